from __future__ import annotations

import gzip
from hashlib import sha256

from tests.protocol.recorded import RECORDING, body, exchanges, lines, syncs


def test_the_recording_is_byte_for_byte_what_was_on_the_wire() -> None:
    raw = gzip.decompress(RECORDING.read_bytes())
    assert sha256(raw).hexdigest() == (
        "77efc42a64c067ff2be3accff65eaeef1367c7d1240ba077aaee8907d9f3cae6"
    )
    assert (len(lines()), len(syncs())) == (48, 47)


def test_a_request_is_sent_as_it_was_recorded() -> None:
    for line, one in zip(lines(), exchanges(), strict=True):
        assert body(one["request"]) in line
