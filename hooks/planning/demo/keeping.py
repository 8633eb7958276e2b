"""The file that a demo's history goes to: the old one stays until the new one is complete.

Owns the temporary name beside it, and the refusal of what can't be written.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from hooks.verdict.case import OperatorMark
from hooks.verdict.history import Change
from hooks.verdict.record import write_record


class HistoryFile:
    """A place for one history; what :meth:`keep` didn't finish leaves no trace."""

    def __init__(self, path: Path) -> None:
        """Take the place at once; raises OSError when nothing can be written there."""
        path = path.resolve()
        if path.exists() and not path.is_file():
            raise OSError(f"{path} isn't a regular file")
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
        self._path = path
        self._beside = Path(name)

    def __enter__(self) -> Self:
        """Nothing more to do."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove what wasn't finished."""
        self._beside.unlink(missing_ok=True)

    def keep(self, changes: Iterable[Change], marks: Iterable[OperatorMark]) -> None:
        """Write it, and put it into its place."""
        write_record(changes, marks, self._beside)
        # A temporary file is for its owner only; this one is as any other file of theirs.
        mask = os.umask(0)
        os.umask(mask)
        self._beside.chmod(0o666 & ~mask)
        self._beside.replace(self._path)
