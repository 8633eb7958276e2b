"""The pure core: windows, schedule, gates, candidates, sizing, and the pass table.

Nothing here knows a clock, a network, the environment, Flask, pydantic or a client.
"""
