"""Series as Prometheus would have scraped them, and promtool, which judges rules and queries on them.

The numbers come from the servers' own metrics: what they export is what the rules are tried on.
"""

from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from prometheus_client.parser import text_string_to_metric_families

from hooks import names
from hooks.rotation.decision import Decision, Figures
from hooks.rotation.reasons import Reason
from hooks.telemetry.certificate import CertificateEnd
from hooks.telemetry.drains import Evictions, Rollouts
from hooks.telemetry.metrics import Metrics
from tests.monitoring_files import FOLDER

POOL = "api"
Series = dict[str, float]


@cache
def rendered() -> list[dict[str, Any]]:
    """The objects of the monitoring overlay as kubectl makes them."""
    done = subprocess.run(
        ["kubectl", "kustomize", str(FOLDER)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return list(yaml.safe_load_all(done.stdout))


def rule_groups() -> list[dict[str, Any]]:
    """The groups of the PrometheusRule that is shipped."""
    (rule,) = [one for one in rendered() if one["kind"] == "PrometheusRule"]
    return list(rule["spec"]["groups"])


def promtool(*arguments: str) -> None:
    """Run it; what it finds wrong fails the test."""
    assert shutil.which("promtool"), "needs promtool (on Debian: apt-get install prometheus)"
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def judge(folder: Path, story: Story, **tests: list[dict[str, Any]]) -> None:
    """Have promtool evaluate the shipped rules on the story, and compare with what is expected."""
    (folder / "rules.yaml").write_text(yaml.safe_dump({"groups": rule_groups()}))
    # Of all that is exported only what is asked for: a story of days is long.
    asked = yaml.safe_dump([rule_groups(), tests])
    series = [one for one in story.series() if one["series"].split("{")[0] in asked]
    case = {"interval": "1m", "input_series": series, **tests}
    whole = {
        "rule_files": ["rules.yaml"],
        "evaluation_interval": "1m",
        # In the order of the file, as Prometheus does: alerts rest on what is recorded before.
        "group_eval_order": [group["name"] for group in rule_groups()],
        "tests": [case],
    }
    (folder / "test.yaml").write_text(yaml.safe_dump(whole))
    promtool("test", "rules", str(folder / "test.yaml"))


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


class Replica:
    """One Pod of the hook server, scraped for itself."""

    def __init__(self, pod: str, clock: Clock) -> None:
        self.pod = pod
        self.metrics = Metrics(clock)
        self.rollouts = Rollouts()
        self.metrics.add(self.rollouts)

    def pass_over(self, figures: Figures, reason: Reason = Reason.NO_CANDIDATE) -> None:
        self.metrics.show(POOL, figures, reason)
        self.answer(200)

    def answer(self, status: int) -> None:
        self.metrics.answered(names.SYNC_NODEPOOL, status, 0.02, 5000)

    def count(self, decision: Decision) -> None:
        self.metrics.count(POOL, decision, {one.name for one in decision.announcements})

    def scrape(self) -> Series:
        return _scraped(self.pod, self.metrics)


class Webhook:
    """One Pod of the eviction server, scraped for itself."""

    def __init__(self, pod: str) -> None:
        self.pod = pod
        self.metrics = Metrics()
        self.evictions = Evictions()
        self.metrics.add(self.evictions)
        self.not_after: float | None = None
        self.metrics.add(CertificateEnd(lambda: self.not_after))

    def scrape(self) -> Series:
        return _scraped(self.pod, self.metrics)


class Story:
    """What a Prometheus that scrapes once a minute has seen: begun by :meth:`minutes`, and so on."""

    def __init__(self) -> None:
        self._clock = Clock()
        self.replicas: list[Replica] = []
        self._webhooks: list[Webhook] = []
        self._length = 0
        self._values: dict[str, list[str]] = {}
        self._seen: set[str] = set()

    def replica(self, pod: str) -> Replica:
        """One more Pod of the hook server."""
        self.replicas.append(Replica(pod, self._clock))
        return self.replicas[-1]

    def webhook(self, pod: str) -> Webhook:
        """One more Pod of the eviction server."""
        self._webhooks.append(Webhook(pod))
        return self._webhooks[-1]

    def minutes(self, count: int, status: int = 200) -> None:
        """Let so many scrapes go by, the pool's calls answered once a minute by each replica."""
        before = self._scrape()
        self._go_on(count, status)
        after = self._scrape()
        # What is counted for the first time in between began with zero.
        self._append(dict.fromkeys(after, 0.0) | before, before | after, count)

    def outage(self, count: int) -> None:
        """Let so many scrapes fail, while the calls go on."""
        for values in self._values.values():
            values.append(f"_x{count}")
        self._go_on(count, 200)
        self._length += count

    def series(self) -> list[dict[str, str]]:
        return [
            {"series": name, "values": " ".join(values)} for name, values in self._values.items()
        ]

    def _go_on(self, minutes: int, status: int) -> None:
        for _ in range(minutes):
            self._clock.now += 60
            for replica in self.replicas:
                replica.metrics.heard(POOL)
                replica.answer(status)

    def _scrape(self) -> Series:
        pods: list[Replica | Webhook] = [*self.replicas, *self._webhooks]
        return {name: value for one in pods for name, value in one.scrape().items()}

    def _append(self, before: Mapping[str, float], after: Mapping[str, float], count: int) -> None:
        for name in self._seen - before.keys():
            self._values[name].append(f"stale _x{count - 1}" if count > 1 else "stale")
        for name in self._values.keys() - self._seen - before.keys():
            self._values[name].append(f"_x{count}")
        for name, value in before.items():
            padding = [f"_x{self._length}"] if self._length else []
            step = (after[name] - value) / count if math.isfinite(value) else 0.0
            self._values.setdefault(name, padding).append(f"{_number(value)}{step:+}x{count - 1}")
        self._seen = set(before)
        self._length += count


def _scraped(pod: str, metrics: Metrics) -> Series:
    families = text_string_to_metric_families(metrics.exposition().decode())
    return {
        _series(sample.name, {**sample.labels, "pod": pod}): sample.value
        for family in families
        for sample in family.samples
    }


def _series(name: str, labels: Mapping[str, str]) -> str:
    return name + "{" + ",".join(f'{key}="{value}"' for key, value in labels.items()) + "}"


def _number(value: float) -> str:
    return repr(value) if math.isfinite(value) else "Inf"
