"""Lets tests share code as ``tests.…`` without putting the checkout before the installed wheel.

The checkout comes last on the path: ``hooks`` is the wheel wherever one is installed, which
test_layers.py insists on.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
