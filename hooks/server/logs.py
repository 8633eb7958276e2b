"""What the server and the libraries log: one JSON object a line, like the hooks' own lines.

Owns the format of ``logging``'s records. Leaves the hooks' lines to :mod:`hooks.telemetry.log`.
Source: design/observability.md, *Log lines*.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any, Final

from gunicorn.config import Config
from gunicorn.glogging import Logger
from typing_extensions import override

LISTENING: Final = "Listening at: "
"""How gunicorn's line about its addresses begins."""


class JsonFormatter(logging.Formatter):
    """Writes a record with the keys ts, level, event and logger, and its traceback if it has one."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {
            "ts": moment.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            "logger": record.name,
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


class ServerLogger(Logger):
    """gunicorn's own log, on stderr."""

    @override
    def setup(self, cfg: Config) -> None:
        """Set up what gunicorn sets up, and then the format."""
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(JsonFormatter())

    @override
    def info(self, msg: object, *args: object, **kwargs: Any) -> None:
        """Log a line; that of the addresses without ``http://``, which one of them doesn't speak."""
        if str(msg).startswith(LISTENING):
            args = (str(args[0]).replace("http://", ""), *args[1:])
        super().info(msg, *args, **kwargs)


def configure_libraries() -> None:
    """Let warnings of the libraries look like all other lines."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
