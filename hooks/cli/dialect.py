"""YAML in the dialect that kubectl reads, so that a file means here what it means to a cluster.

PyYAML alone would read an unquoted ``02:00`` as 120 and a time stamp as a date, and would let the
last of two equal keys win.
"""

from __future__ import annotations

import re
from typing import Any, Final

import yaml
from typing_extensions import override

_INT: Final = "tag:yaml.org,2002:int"
_FLOAT: Final = "tag:yaml.org,2002:float"
_OTHERWISE: Final = frozenset(
    {_INT, _FLOAT, "tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:value"}
)


class KubectlLoader(yaml.CSafeLoader):
    """Only safe types; no time stamps, no numbers to the base 60, no key twice."""

    @override
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Build a mapping, unless one of its keys stands there twice."""
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(
                        problem=f"key {key.value!r} stands there twice", problem_mark=key.start_mark
                    )
                seen.add(key.value)
        return super().construct_mapping(node, deep)


KubectlLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _OTHERWISE]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}
KubectlLoader.add_implicit_resolver(
    _INT,
    re.compile(r"^(?:[-+]?0b[01_]+|[-+]?0[0-7_]*|[-+]?[1-9][0-9_]*|[-+]?0x[0-9a-fA-F_]+)$"),
    list("-+0123456789"),
)
KubectlLoader.add_implicit_resolver(
    _FLOAT,
    re.compile(
        r"^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
    ),
    list("-+0123456789."),
)
