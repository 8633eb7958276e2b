from __future__ import annotations

from hooks.protocol.errors import ShapeError


def test_it_says_the_field_and_what_is_wrong_with_it() -> None:
    error = ShapeError("metadata.name", "is missing")
    assert (error.field, error.message, str(error)) == (
        "metadata.name",
        "is missing",
        "metadata.name: is missing",
    )


def test_the_holder_of_an_object_puts_its_own_path_before() -> None:
    outer = ShapeError("metadata.name", "is missing").inside("object")
    assert (outer.field, outer.message) == ("object.metadata.name", "is missing")
