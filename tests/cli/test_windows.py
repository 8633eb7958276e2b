"""``noderotation windows``: whole outputs for people and for programs, and exit statuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hooks.cli.windows import command

EXAMPLES = Path(__file__).parents[2] / "examples"

POLICY = """
apiVersion: noderotation.io/v1alpha1
kind: RotationPolicy
metadata: {name: NAME}
spec:
  nodePoolSelector: {}
  maintenanceWindows: [WINDOWS]
"""
NIGHT = "{timezone: Europe/Berlin, days: [Sat], start: 22:00, end: 04:00}"
LUNCH = "{timezone: UTC, days: [Sun], start: 12:00, end: 13:00}"
DAYS = "[Mon, Tue, Wed, Thu, Fri, Sat, Sun]"
ALWAYS = f"{{timezone: UTC, days: {DAYS}, start: 00:00, end: 24:00}}"


def policy(windows: str, more: str = "", name: str = "nights") -> str:
    return POLICY.replace("WINDOWS", windows).replace("NAME", name) + more


def run(text: str, *arguments: str) -> Result:
    return CliRunner().invoke(command, ["-f", "-", *arguments], input=text)


def shown(text: str, at: str, ahead: str = "8d") -> str:
    result = run(text, "--at", at, "--for", ahead)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def test_the_example_as_json() -> None:
    arguments = ["-f", str(EXAMPLES / "policy.yaml"), "--at", "2026-12-01T18:00:00Z"]
    result = CliRunner().invoke(command, [*arguments, "--for", "4d", "--output", "json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {
        "policies": [
            {
                "name": "api",
                "open": True,
                "opensAt": "2026-12-04T17:00:00Z",
                "closesAt": "2026-12-01T21:00:00Z",
                "periodSeconds": 345600,
                "occurrences": [
                    {"start": "2026-12-01T17:00:00Z", "end": "2026-12-01T21:00:00Z"},
                    {"start": "2026-12-04T17:00:00Z", "end": "2026-12-04T21:00:00Z"},
                ],
            }
        ]
    }


def test_closed_and_always_open_as_json() -> None:
    text = policy(LUNCH, name="a") + "---" + policy(ALWAYS, name="b")
    result = run(text, "--at", "2026-12-01T18:00:00Z", "--for", "1d12h", "--output", "json")
    assert json.loads(result.stdout)["policies"] == [
        {
            "name": "a",
            "open": False,
            "opensAt": "2026-12-06T12:00:00Z",
            "closesAt": None,
            "periodSeconds": 604800,
            "occurrences": [],
        },
        {
            "name": "b",
            "open": True,
            "opensAt": None,
            "closesAt": None,
            "periodSeconds": 60,
            "occurrences": [{"start": "2026-12-01T18:00:00Z", "end": "2026-12-03T06:00:00Z"}],
        },
    ]


def test_thirty_days_are_the_default() -> None:
    result = run(policy(LUNCH), "--at", "2026-12-01T00:00:00Z", "--output", "json")
    (found,) = json.loads(result.stdout)["policies"]
    assert [entry["start"][:10] for entry in found["occurrences"]] == [
        "2026-12-06",
        "2026-12-13",
        "2026-12-20",
        "2026-12-27",
    ]


def test_closed_for_people() -> None:
    assert shown(policy(f"{NIGHT}, {LUNCH}"), "2026-12-05T20:18:30Z") == (
        "policy nights: CLOSED, opens Sat 2026-12-05 22:00 Europe/Berlin (in 41m)\n"
        "  P 6d9h (longest time from one opening to the next)\n"
        "  Sat 2026-12-05 22:00-Sun 2026-12-06 04:00 Europe/Berlin  =  "
        "Sat 2026-12-05 21:00-Sun 2026-12-06 03:00 UTC\n"
        "  Sun 2026-12-06 13:00-14:00 Europe/Berlin  =  Sun 2026-12-06 12:00-13:00 UTC\n"
        "  Sat 2026-12-12 22:00-Sun 2026-12-13 04:00 Europe/Berlin  =  "
        "Sat 2026-12-12 21:00-Sun 2026-12-13 03:00 UTC\n"
        "  Sun 2026-12-13 13:00-14:00 Europe/Berlin  =  Sun 2026-12-13 12:00-13:00 UTC\n"
    )


@pytest.mark.parametrize(
    ("text", "at", "state"),
    [
        (policy(LUNCH), "2026-12-06T12:59:15Z", "OPEN until Sun 2026-12-06 13:00 UTC (in 45s)"),
        (policy(ALWAYS), "2026-12-06T12:59:15Z", "OPEN, never closes"),
        (
            policy(LUNCH),
            "2026-12-06T13:00:00Z",
            "CLOSED, opens Sun 2026-12-13 12:00 UTC (in 6d23h)",
        ),
    ],
)
def test_state_for_people(text: str, at: str, state: str) -> None:
    assert shown(text, at).splitlines()[0] == f"policy nights: {state}"


def test_what_never_closes_has_no_time_between_openings() -> None:
    assert shown(policy(ALWAYS), "2026-12-06T12:59:15Z").splitlines()[1] == (
        "  P 1m (it never closes)"
    )


EXCLUSIONS = """
  exclusions:
    - {start: 2026-12-06T12:00:00Z, end: 2026-12-06T12:30:00Z, reason: release}
    - {start: 2026-12-13T00:00:00Z, end: 2026-12-14T00:00:00Z}
  suspend: true
  dryRun: true
"""


def test_what_keeps_an_open_window_from_being_used() -> None:
    text = policy(LUNCH, EXCLUSIONS)
    assert shown(text, "2026-12-06T12:10:00Z", "15d") == (
        "policy nights: OPEN, but excluded until Sun 2026-12-06 12:30 UTC (in 20m) (release)\n"
        "  suspended (spec.suspend): nothing starts, open or not\n"
        "  dry run (spec.dryRun): nothing starts, open or not\n"
        "  P 7d (longest time from one opening to the next)\n"
        "  Sun 2026-12-06 12:00-13:00 UTC  partly excluded\n"
        "  Sun 2026-12-13 12:00-13:00 UTC  EXCLUDED\n"
        "  Sun 2026-12-20 12:00-13:00 UTC\n"
    )
    assert shown(text, "2026-12-13T12:10:00Z").splitlines()[0] == (
        "policy nights: OPEN, but excluded until Mon 2026-12-14 00:00 UTC (in 11h50m)"
    )


def test_a_broken_policy_is_told_and_the_others_go_on() -> None:
    text = (
        policy(NIGHT.replace("Berlin", "Berln"), name="broken") + "---" + policy(LUNCH, name="fine")
    )
    result = run(text, "--at", "2026-12-06T12:00:00Z", "--for", "1h", "--output", "json")
    assert result.exit_code == 1
    assert [entry["name"] for entry in json.loads(result.stdout)["policies"]] == ["fine"]
    assert result.stderr.startswith(
        "policy broken is invalid: spec.maintenanceWindows[0].timezone "
    )


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--at", "tomorrow"], "isn't an RFC 3339 time"),
        (["--for", "a while"], "'a while' is not a duration"),
        (["--for", "0s"], "must be more than nothing and at most ten years"),
        (["--for", "-1h"], "must be more than nothing and at most ten years"),
        (["--for", "4000d"], "must be more than nothing and at most ten years"),
        (["--output", "yaml"], "'yaml' is not one of"),
    ],
)
def test_wrong_use(arguments: list[str], problem: str) -> None:
    result = run(policy(LUNCH), *arguments)
    assert result.exit_code == 2
    assert problem in result.stderr


def test_an_unreadable_file() -> None:
    result = CliRunner().invoke(command, ["-f", "absent.yaml"])
    assert (result.exit_code, result.stderr) == (
        2,
        "Error: absent.yaml: No such file or directory\n",
    )


def test_an_opening_that_is_excluded_is_no_promise() -> None:
    holiday = '\n  exclusions: [{start: "2026-12-01T00:00:00Z", end: "2027-01-07T00:00:00Z"}]'
    lines = shown(policy(LUNCH, holiday), "2026-12-02T12:00:00Z").splitlines()
    assert lines[0] == "policy nights: CLOSED, opens Sun 2026-12-06 12:00 UTC (in 4d), excluded"
    assert shown(policy(LUNCH), "2026-12-02T12:00:00Z").splitlines()[0].endswith("(in 4d)")
