"""The HTTP server: gunicorn with one process, threads, and requests that are read before they work.

``incoming`` knows when a request is whole, ``source`` lets the parser read it again, ``worker`` puts
both in front of gunicorn's thread pool. ``certificates`` and ``handshakes`` come before that where
TLS is spoken, ``errands`` and ``farewells`` after it. ``process`` starts it all, ``logs`` is what it
says.
"""
