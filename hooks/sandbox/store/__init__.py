"""The API server's own part of a cluster, in memory: objects, and the rules for writing them.

``store`` is the locked whole. Each rule has a module of its own: ``kinds`` (what is served),
``shelves`` (the objects and the log of their changes), ``identity`` (names, UIDs, times),
``syntax`` (how metadata is spelt), ``admission`` with ``defaults``, ``pods`` and ``quota`` (what a
new object gets, and what is refused), ``writing`` (what an update may change), ``patching`` and
``strategic``, ``deletion`` and ``namespaces``, ``matching`` (selectors of a query), ``doors`` (the
two kinds of Events), ``refusals`` (errors as the real server words them). ``port`` is the store as
the conductor sees it.
"""
