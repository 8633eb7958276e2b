"""Node rotation for Karpenter, as Metacontroller hooks.

The layers, each importing only what stands to its right (held by import-linter):

cli > server > app > sync | customize > telemetry > cluster > protocol | settings > rotation > names

``rotation`` is pure: it decides, and knows no clock, network, environment, Flask or client.
``cluster`` is the only user of the Kubernetes client. ``sandbox`` stands aside and imports
``protocol`` and ``names`` only, so that it can never prove our belief with itself.
"""
