"""What runs beside the API server in every cluster: scheduler, kubelets, workloads, garbage.

Each works on levels: it reads the store as it is, and keeps nothing that it couldn't lose. ``levels``
is what they have in common, ``crew`` all of them in their order. ``scheduler`` and ``preemption``;
``kubelets``; ``deployments``, ``replicasets``, ``statefulsets``, ``daemonsets`` with ``template``;
``budgets`` and ``eviction``; ``garbage``, ``nodelifecycle`` and ``tainteviction``.
"""
