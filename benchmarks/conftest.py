"""Lets benchmarks use ``tests.…`` without putting the checkout before the installed wheel."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
