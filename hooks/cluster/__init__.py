"""The cluster's API: the only package that uses the Kubernetes client.

``errors`` is what can go wrong, ``connection`` how it is talked to, ``verbs`` what the hook server
may do, ``apply`` how a decision's writes are carried out, ``sweep`` and ``operator`` what an
operator's commands do with rights of their own.
"""
