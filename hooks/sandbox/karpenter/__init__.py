"""Karpenter v1.14.1 with its KWOK provider, as controllers on the store.

Owns what Karpenter does with NodePools, NodeClaims, Nodes and the Pods on them. Read in its Go source
and held against the recorded rotation. Not modelled: Events, metrics, preferences (preferred
affinity, ScheduleAnyway), volumes, host ports, reserved capacity, minValues, node repair, the policy
Balanced, requirements of a NodePool on own labels that name no values (Exists, NotIn, Gt).

Values and rules: ``words``, ``moments``, ``quantities``, ``conditions``, ``instances``, ``pods``,
``schedule``, ``template``. The cluster as Karpenter sees it: ``view``, ``world``, ``reconciler``. Where
Pods would go: ``offers``, ``claimplan``, ``simulation``, ``plans``. A machine's life: ``provider``,
``lifecycle``, ``registrations``, ``drain``, ``evictions``, ``termination``, ``endings``, ``expiration``,
``marks``. Why machines come and go: ``provisioning``, ``static``, ``allowances``, ``candidates``,
``consolidation``, ``commands``, ``disruption``. NodePools: ``nodepools``. All of it: ``crew``.
"""

from hooks.sandbox.karpenter.crew import Karpenter

__all__ = ["Karpenter"]
