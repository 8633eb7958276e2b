"""What comes over the wire, checked: shapes of requests and objects, and how they become values.

The only users of pydantic. A wrong shape is a :class:`~hooks.protocol.errors.ShapeError`.
"""
