"""Which metrics and labels a PromQL query names: enough of its grammar for the queries that we ship.

That they are queries at all is for promtool to say (tests/rules).
"""

from __future__ import annotations

import re
from typing import NamedTuple

GROUPING = re.compile(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)")
RANGE = re.compile(r"\[[^\]]*\]|\boffset\s+\w+")
# Possessive, so that a function's name isn't cut short to become a metric's.
SELECTOR = re.compile(r"\b([a-zA-Z_:][\w:]*+)(?!\s*\()(?:\s*\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"')
WORDS = {"and", "or", "unless", "bool"}


class Selector(NamedTuple):
    """One metric in a query, and the labels and values that it is narrowed to."""

    metric: str
    matchers: tuple[tuple[str, str], ...]


def selectors(query: str) -> list[Selector]:
    """Each metric that the query selects."""
    bare = RANGE.sub("", GROUPING.sub(" ", query))
    return [
        Selector(name, tuple(MATCHER.findall(matchers)))
        for name, matchers in SELECTOR.findall(bare)
        if name not in WORDS
    ]


def grouped_by(query: str) -> set[str]:
    """All labels that the query keeps or joins by."""
    groups = GROUPING.findall(query)
    return {label.strip() for group in groups for label in group.split(",") if label.strip()}
