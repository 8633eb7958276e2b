"""The pure core of the graceful drain: whose Pod it is, the decision table, the rollout's progress.

Nothing here knows a clock, a network, the environment, Flask, pydantic or a client.
"""
