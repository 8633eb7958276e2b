"""How a stage hears the hook server: its metrics, its log lines, and a call made once more.

Owns the wire formats. What is made of them is in :mod:`.retelling`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import requests
from prometheus_client.parser import text_string_to_metric_families

from tests.scenarios.interposer import Sent
from tests.scenarios.stage import Object

SYNC = "/sync/(nodepool|rotationpolicy)"
"""The paths of the hooks whose calls are kept."""


def scraped(url: str) -> Mapping[str, float]:
    """What ``/metrics`` shows: sample with its labels, as Prometheus spells them, to value."""
    with _session() as session:
        text = session.get(f"{url}/metrics", timeout=10).text
    return {
        name_of(sample.name, sample.labels): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def name_of(metric: str, labels: Mapping[str, str]) -> str:
    """A sample's name with its labels."""
    inner = ",".join(f'{key}="{value}"' for key, value in sorted(labels.items()))
    return f"{metric}{{{inner}}}" if inner else metric


def lines_in(log: str) -> Sequence[Object]:
    """The lines that are the hooks' own; a server may say other things beside them."""
    found = []
    for line in log.splitlines():
        try:
            told = json.loads(line)
        except ValueError:
            continue
        if isinstance(told, dict) and "event" in told:
            found.append(told)
    return found


def post(url: str, call: Sent, token: str) -> int:
    """Make a call of a hook once more; the status of the answer."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    with _session() as session:
        answer = session.post(url + call.path, data=call.body.encode(), headers=headers, timeout=30)
    return answer.status_code


def _session() -> requests.Session:
    session = requests.Session()
    session.trust_env = False
    return session
