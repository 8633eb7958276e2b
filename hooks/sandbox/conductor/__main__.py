"""The conductor as a process: ``python -m hooks.sandbox.conductor --server URL --token-file F``.

Owns arguments, signals and log lines (stdout, one line each). Exit status 0 after SIGTERM or SIGINT,
1 when one of its threads failed.
"""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hooks.sandbox.conductor.apiserver import ApiServer
from hooks.sandbox.conductor.fleet import WORKERS, Fleet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until a signal; return the exit status."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(
        stream=sys.stdout,
        level=logging.INFO,
        format="%(asctime)s.%(msecs)03d %(levelname)s %(message)s",
        datefmt="%Y-%m-%dT%H:%M:%S",
    )
    token = options.token_file.read_text(encoding="utf-8").strip() if options.token_file else ""
    api = ApiServer(options.server, token=token, ca_file=options.ca_file)
    fleet = Fleet(api, options.controller, workers=options.workers)

    def end(_signal: int, _frame: FrameType | None) -> None:
        fleet.ended.set()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    fleet.start()
    fleet.ended.wait()
    fleet.stop()
    return 1 if fleet.crashed.is_set() else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m hooks.sandbox.conductor", description=__doc__)
    parser.add_argument("--server", required=True, help="address of the API server")
    parser.add_argument("--token-file", type=Path, help="file with a bearer token")
    parser.add_argument("--ca-file", default="", help="certificates that the server is checked by")
    parser.add_argument(
        "--controller",
        action="append",
        default=[],
        metavar="NAME",
        help="run only this controller (may be repeated; default: all)",
    )
    parser.add_argument("--workers", type=int, default=WORKERS, help="syncs at the same time")
    return parser


if __name__ == "__main__":
    sys.exit(main())
