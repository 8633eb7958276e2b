"""Files of Kubernetes objects: YAML, JSON, several documents, Lists, folders, standard input.

Owns the reading of text into plain objects. Leaves the dialect of YAML to :mod:`hooks.cli.dialect`
and the meaning of the objects to :mod:`hooks.cli.inputs`. Source: design/product.md (Commands).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import click
import yaml

from hooks.cli.dialect import KubectlLoader

Json: TypeAlias = dict[str, Any]

STDIN: Final = "-"
_SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})


class UnreadableError(click.ClickException):
    """A file that can't be read, or isn't what it should be: exit status 2, as for wrong use."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Document:
    """One object and where it came from; ``listed`` when it was found in a folder, not named."""

    source: str
    value: Json
    listed: bool = False


def documents(paths: tuple[str, ...]) -> Iterator[Document]:
    """Every object in the files, the files of the folders, and ``-``; Lists are unpacked.

    Raises :class:`UnreadableError`, naming the file, on the first one that can't be read.
    """
    for path in paths:
        if path == STDIN:
            yield from _objects(
                "standard input", _decoded("standard input", sys.stdin.buffer.read())
            )
        elif Path(path).is_dir():
            yield from _folder(Path(path))
        else:
            yield from _objects(path, _text(Path(path)))


def _folder(folder: Path) -> Iterator[Document]:
    files = _files(folder)
    if not files:
        raise UnreadableError(f"{folder}: no .yaml, .yml or .json file in this folder")
    for file in files:
        yield from _objects(str(file), _text(file), listed=True)


def subfolders(paths: tuple[str, ...]) -> list[str]:
    """The folders inside the given folders: like kubectl, :func:`documents` doesn't enter them."""
    folders = [Path(path) for path in paths if path != STDIN and Path(path).is_dir()]
    inner = (place for folder in folders for place in _listed(folder) if place.is_dir())
    return sorted(str(place) for place in inner)


def _files(folder: Path) -> list[Path]:
    inner = (place for place in _listed(folder) if place.suffix in _SUFFIXES)
    return sorted(place for place in inner if not place.is_dir())


def _listed(folder: Path) -> list[Path]:
    try:
        return [place for place in folder.iterdir() if not place.name.startswith(".")]
    except OSError as error:
        raise UnreadableError(f"{folder}: {error.strerror or error}") from None


def _text(path: Path) -> str:
    try:
        return _decoded(str(path), path.read_bytes())
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror or error}") from None


def _decoded(source: str, text: bytes) -> str:
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableError(f"{source}: isn't text in UTF-8") from None


def _objects(source: str, text: str, *, listed: bool = False) -> Iterator[Document]:
    for value in _parsed(source, text):
        if value is None:
            continue
        if not isinstance(value, dict):
            raise UnreadableError(f"{source}: holds something that isn't a Kubernetes object")
        yield from _unpacked(Document(source, value, listed))


def _unpacked(document: Document) -> Iterator[Document]:
    kind, items = document.value.get("kind"), document.value.get("items")
    if not isinstance(kind, str) or not kind.endswith("List") or not isinstance(items, list):
        yield document
        return
    # The items of a NodePoolList may leave out what the list says already.
    implied = {"kind": kind.removesuffix("List"), "apiVersion": document.value.get("apiVersion")}
    for item in items:
        if not isinstance(item, dict):
            raise UnreadableError(
                f"{document.source}: its {kind} holds something else than objects"
            )
        whole = item if kind == "List" else {**implied, **item}
        yield from _unpacked(Document(document.source, whole, document.listed))


def _parsed(source: str, text: str) -> list[object]:
    try:
        if text.lstrip().startswith("{"):
            try:
                return [json.loads(text, object_pairs_hook=_unique)]
            except json.JSONDecodeError:
                pass  # A flow mapping of YAML begins like JSON.
        return list(yaml.load_all(text, Loader=KubectlLoader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" line {mark.line + 1}, column {mark.column + 1}:" if mark else ""
        raise UnreadableError(f"{source}:{where} {error.problem}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise UnreadableError(f"{source}: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise UnreadableError(f"{source}: is nested too deeply") from None


def _unique(pairs: list[tuple[str, object]]) -> Mapping[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        twice = next(key for key in made if sum(key == other for other, _ in pairs) > 1)
        raise ValueError(f"key {twice!r} stands there twice")
    return made
