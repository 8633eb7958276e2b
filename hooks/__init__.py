"""Node rotation for Karpenter, as Metacontroller hooks.

The layers, each importing only what stands to its right (held by import-linter):

cli > planning > server > wiring > app > sync | customize | admission > telemetry > cluster
> protocol | settings > rotation | drain > names

``rotation`` and ``drain`` are pure: they decide, and know no clock, network, environment, Flask or
client, and nothing of each other. ``admission`` answers evictions, ``sync`` Metacontroller.
``cluster`` is the only user of the Kubernetes client. ``sandbox`` stands aside and imports
``protocol`` and ``names`` only, so that it can never prove our belief with itself;
``verdict`` judges histories and imports nothing of the package. ``planning`` wires them up.
"""
