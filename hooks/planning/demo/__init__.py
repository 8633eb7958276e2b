"""The demo: a whole pool rotated through two windows on the embedded cluster, in about a minute.

``world`` and ``installation``: what is on the cluster. ``story``: what happens to it on the way.
``rows``, ``board`` and ``sentences``: what is going on, read off the changes. ``view`` and ``pace``:
the same before an onlooker's eyes. ``report`` and ``ending``: what is said at the end. ``run``: all
of it together. Source: design/product.md, *Two commands*.
"""
