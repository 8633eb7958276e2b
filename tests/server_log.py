"""What gunicorn's own log says, for tests of the server's parts in this process."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from gunicorn.config import Config
from gunicorn.glogging import Logger
from typing_extensions import override


class Log(logging.Handler):
    """gunicorn's own log, whose lines are kept."""

    def __init__(self) -> None:
        super().__init__()
        self.logger = Logger(Config())
        self.logger.error_log.setLevel(logging.INFO)
        self.lines: list[str] = []

    @override
    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname} {record.getMessage()}")


@contextmanager
def kept() -> Iterator[Log]:
    """Keep the lines until the end of ``with``."""
    made = Log()
    made.logger.error_log.addHandler(made)
    try:
        yield made
    finally:
        made.logger.error_log.removeHandler(made)
