"""Ending a response that another thread is reading.

Owns the one trick that :mod:`requests` has no call for: closing a response doesn't wake a thread
that waits in it, shutting its connection down does.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import requests


def cut_off(response: requests.Response) -> None:
    """Shut the connection of a response down, so that whoever reads it sees its end at once."""
    # The response may be read to its end, and so be closed, at the same moment.
    with suppress(OSError, ValueError):
        twin = socket.socket(fileno=os.dup(response.raw.fileno()))
        with twin:
            twin.shutdown(socket.SHUT_RDWR)
