"""What the suite's filter of warnings lets pass: only the socket that CPython itself leaks."""

from __future__ import annotations

import gc
import socket
import ssl
import struct

import pytest

RESET = struct.pack("ii", 1, 0)
"""SO_LINGER: whoever closes with it sends a reset."""


def test_a_reset_before_the_handshake_fails_no_test() -> None:
    # Any client can meet it while an API server goes down; it failed a landing once.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        plain = socket.create_connection(listener.getsockname())
        peer, _ = listener.accept()
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        peer.close()
        with pytest.raises(ConnectionResetError):
            ssl.create_default_context().wrap_socket(plain, server_hostname="localhost")
    gc.collect()


def test_a_socket_that_a_test_leaves_open_is_still_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        plain = socket.create_connection(listener.getsockname())
        with listener.accept()[0]:
            context = ssl.create_default_context()
            left = context.wrap_socket(
                plain, server_hostname="localhost", do_handshake_on_connect=False
            )
            with pytest.warns(ResourceWarning, match="raddr="):
                del left
