"""Waiting for what can only be asked for, again and again."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(what: str, holds: Callable[[], object], seconds: float, every: float = 0.25) -> None:
    """Ask ``every`` so many seconds until ``holds()``; raises :class:`TimeoutError` with ``what``."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            message = f"not within {seconds:g} s: {what}"
            raise TimeoutError(message)
        time.sleep(every)
