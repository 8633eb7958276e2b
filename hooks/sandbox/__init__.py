"""A stand-in for Metacontroller that works on any Kubernetes API server.

Owns Metacontroller's contract (v4.17, hook API v2, DecoratorController): which requests a hook gets,
and what becomes of its answers. Knows nothing of node rotation, so that it can't prove our belief
with itself: of this package it may import only ``protocol`` and ``names``.

Values and shapes: ``objects``, ``failures``, ``durations``, ``selectors``, ``apiport``, ``answers``,
``controllerspec``. One controller, step by step, without threads or a clock of its own:
``workqueue``, ``informer``, ``resources``, ``parents``, ``customize``, ``parent``, ``attachments``,
``events``, ``decorator``. Sockets, threads and the process: ``streams``, ``webhook``, ``apiserver``,
``crew``, ``reflector``, ``fleet``, ``conductor``.
"""
