"""Which Pod fits which Node, as kube-scheduler decides it; pure values, no store and no clock.

``resources``: amounts and what a Pod needs. ``layout``: Nodes and the Pods on them at one moment.
``affinity``: node selectors. ``taints``: taints and tolerations. ``neighbours``: (anti-)affinity to
other Pods. ``spread``: topology spread. ``placement``: all of it together, with the reasons.
"""
