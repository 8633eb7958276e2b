"""An embedded cluster on a virtual clock, and a conductor that stands in for Metacontroller.

Knows nothing of node rotation, so that it can't prove our belief with itself: of this package it
imports ``protocol`` and ``names`` only. Each behaviour names where it was seen: a recording, a run
on the real control plane, or the source of the real program.

``objects``, ``selectors``, ``durations``, ``failures``, ``apiport``: values, shapes and the port to
an API server. ``conductor``: Metacontroller's contract on any API server. ``store``: the API
server's own part, objects and their rules, in memory. ``face``: the store over HTTP.
``scheduling``: which Pod fits which Node. ``controllers``: what runs beside it (scheduler, kubelets,
workloads, budgets, garbage collector). ``karpenter``: Karpenter's behaviour. ``clock`` and
``embedded``: all of it together, moved on step by step.
"""
