"""Files of objects, read as kubectl reads them; and one clear line for each that can't be read."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from hooks.cli.documents import UnreadableError, documents, subfolders

POOL = "kind: NodePool\nmetadata: {name: api}\n"


def values(*paths: Path | str) -> list[dict[str, Any]]:
    return [document.value for document in documents(tuple(str(path) for path in paths))]


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", [], id="empty"),
        pytest.param("# nothing\n---\n---\n", [], id="empty documents"),
        pytest.param("a: 1\n---\nb: 2\n", [{"a": 1}, {"b": 2}], id="several documents"),
        pytest.param('{"a": [1, 2.5, null, "x"]}', [{"a": [1, 2.5, None, "x"]}], id="JSON"),
        pytest.param('\n\t{\n\t"a": 1\n\t}\n', [{"a": 1}], id="JSON with tabs"),
        pytest.param("{a: 1, b: [x]}", [{"a": 1, "b": ["x"]}], id="a flow mapping"),
        pytest.param("\ufeffa: 1\n", [{"a": 1}], id="byte order mark"),
        pytest.param(
            "start: 02:00\nend: 06:00\n", [{"start": "02:00", "end": "06:00"}], id="hours"
        ),
        pytest.param("at: 2026-12-18T00:00:00Z", [{"at": "2026-12-18T00:00:00Z"}], id="a time"),
        pytest.param("at: 2026-12-18", [{"at": "2026-12-18"}], id="a date"),
        pytest.param(
            "a: -1\nb: 0x1f\nc: 010\nd: 0\ne: .5\nf: 1.5e3\ng: =\nh: yes\ni: 1_000\n",
            [
                {
                    "a": -1,
                    "b": 31,
                    "c": 8,
                    "d": 0,
                    "e": 0.5,
                    "f": 1500.0,
                    "g": "=",
                    "h": True,
                    "i": 1000,
                }
            ],
            id="scalars",
        ),
        pytest.param(
            "kind: List\nitems:\n- {kind: A}\n- {kind: List, items: [{kind: B}]}\n",
            [{"kind": "A"}, {"kind": "B"}],
            id="Lists in Lists",
        ),
        pytest.param(
            "kind: NodePoolList\napiVersion: karpenter.sh/v1\nitems:\n- {a: 1}\n- {kind: X}\n",
            [
                {"kind": "NodePool", "apiVersion": "karpenter.sh/v1", "a": 1},
                {"kind": "X", "apiVersion": "karpenter.sh/v1"},
            ],
            id="items of a typed List are of its kind",
        ),
        pytest.param(
            "kind: AllowList\nspec: {}\n", [{"kind": "AllowList", "spec": {}}], id="no List"
        ),
        pytest.param(
            "a: &x {b: 1}\nc: {<<: *x, d: 2}\n",
            [{"a": {"b": 1}, "c": {"b": 1, "d": 2}}],
            id="anchors",
        ),
    ],
)
def test_dialect(tmp_path: Path, text: str, expected: list[dict[str, Any]]) -> None:
    assert values(written(tmp_path, "file.yaml", text)) == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param(
            "a: [1,\n", "line 2, column 1: did not find expected node content", id="broken"
        ),
        pytest.param("a: 1\na: 2\n", "line 2, column 1: key 'a' stands there twice", id="twice"),
        pytest.param('{"a": 1, "b": 2, "a": 3}', "key 'a' stands there twice", id="twice in JSON"),
        pytest.param(
            "just a sentence", "holds something that isn't a Kubernetes object", id="text"
        ),
        pytest.param("[1, 2]", "holds something that isn't a Kubernetes object", id="list"),
        pytest.param(
            "kind: List\nitems: [1]",
            "its List holds something else than objects",
            id="list of numbers",
        ),
        pytest.param(
            "a: !!python/object/apply:os.system [ls]",
            "line 1, column 4: could not determine a constructor for the tag "
            "'tag:yaml.org,2002:python/object/apply:os.system'",
            id="code",
        ),
        pytest.param("a: *x", "line 1, column 4: found undefined alias", id="undefined alias"),
        pytest.param("a: " + "1" * 5000, "Exceeds the limit", id="endless number"),
        pytest.param("[1]: 2", "found unhashable key", id="a list as a key"),
        pytest.param("a: \x07", "control characters are not allowed", id="control characters"),
        pytest.param("[" * 50_000, "exceeded maximum nesting depth", id="deep YAML"),
        pytest.param('{"a":' * 50_000, "nested too deeply", id="deep JSON"),
    ],
)
def test_unreadable_text(tmp_path: Path, text: str, problem: str) -> None:
    path = written(tmp_path, "file.yaml", text)
    with pytest.raises(UnreadableError) as refused:
        values(path)
    assert refused.value.exit_code == 2
    assert refused.value.message.startswith(f"{path}: ")
    assert problem in refused.value.message
    assert "\n" not in refused.value.message


def test_files_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "image.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UnreadableError, match=r"image\.yaml: isn't text in UTF-8"):
        values(path)
    with pytest.raises(UnreadableError, match=r"absent\.yaml: No such file or directory"):
        values(tmp_path / "absent.yaml")


def test_a_folder_gives_its_own_files_in_order(tmp_path: Path) -> None:
    for name in ("b.yml", "a.yaml", "c.json", "notes.txt", ".hidden.yaml", "deeper/d.yaml"):
        written(tmp_path, name, json.dumps({"name": name}))
    (tmp_path / "folder.yaml").mkdir()
    found = list(documents((str(tmp_path),)))
    assert [document.value["name"] for document in found] == ["a.yaml", "b.yml", "c.json"]
    assert {document.listed for document in found} == {True}
    assert subfolders((str(tmp_path), "-", str(tmp_path / "a.yaml"))) == [
        str(tmp_path / "deeper"),
        str(tmp_path / "folder.yaml"),
    ]


def test_folders_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnreadableError, match=r"no \.yaml, \.yml or \.json file"):
        values(tmp_path)

    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(UnreadableError, match="Permission denied"):
        values(tmp_path)


@pytest.mark.parametrize(
    "text", [POOL, json.dumps({"kind": "NodePool", "metadata": {"name": "api"}})]
)
def test_standard_input(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert values("-") == [{"kind": "NodePool", "metadata": {"name": "api"}}]
