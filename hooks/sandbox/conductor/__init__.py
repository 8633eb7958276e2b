"""A stand-in for Metacontroller that works on any Kubernetes API server.

Owns Metacontroller's contract (v4.17, hook API v2, DecoratorController, and CompositeController as
far as it keeps a status): which requests a hook gets, and what becomes of its answers.

Shapes: ``answers``, ``controllerspec``, ``webhookspec``. One controller, step by step, without
threads or a clock of its own: ``workqueue``, ``informer``, ``resources``, ``parents``,
``customize``, ``events``, ``syncloop``; with ``parent``, ``attachments``, ``decorator``, or with
``composite``; ``kinds`` says which. Sockets, threads and the process: ``streams``, ``webhook``,
``calls``, ``apiserver``, ``crew``, ``reflector``, ``fleet``, ``__main__``.
"""
