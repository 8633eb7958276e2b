"""An independent judge of what happened on a cluster, from its history alone.

Owns what must hold and how a breach is named. Knows nothing of the software that it judges: it
imports no other part of ``hooks``, and spells out the few names that it reads.
"""
