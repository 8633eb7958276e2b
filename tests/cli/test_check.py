"""``noderotation check``: whole outputs, exit statuses, and that nothing is left out silently."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hooks.cli.check import command

EXAMPLES = Path(__file__).parents[2] / "examples"
AT = "2026-11-29T22:00:00Z"
FATAL = (
    "ageThreshold A -1h17m isn't positive: A = E - (K*P + t_rot) = 14d - (2*7d + 1h17m), so 2 "
    "windows before each deadline can't be guaranteed; raise expireAfter of NodePool api above "
    "14d1h17m, or add windows until P is below 6d23h21m30s, or lower minRotationChances to 1"
)

POLICY = """
apiVersion: noderotation.io/v1alpha1
kind: RotationPolicy
metadata: {name: NAME}
spec:
  nodePoolSelector: SELECTOR
  maintenanceWindows: [{timezone: Asia/Tokyo, days: [Wed, Sat], start: 02:00, end: 06:00}]
"""
POOL = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: NAME, labels: {workload: NAME}}
spec: {template: {spec: {expireAfter: 336h, terminationGracePeriod: 1h}}}
"""
CLAIM = """
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata:
  name: NAME
  creationTimestamp: 2026-11-29T00:00:00Z
  labels: {karpenter.sh/nodepool: api}
spec: {expireAfter: LIFE, terminationGracePeriod: 1h}
"""


def policy(name: str = "api", selector: str = "{}") -> str:
    return POLICY.replace("NAME", name).replace("SELECTOR", selector)


def pool(name: str = "api") -> str:
    return POOL.replace("NAME", name)


def claim(name: str, life: str) -> str:
    return CLAIM.replace("NAME", name).replace("LIFE", life)


def run(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(command, [*arguments, "--at", AT], input=text)


def told(*texts: str) -> list[str]:
    return run("-f", "-", text="\n---\n".join(texts)).stdout.splitlines()


def judged(*texts: str) -> tuple[int, dict[str, Any]]:
    result = run("-f", "-", "--output", "json", text="\n---\n".join(texts))
    return result.exit_code, json.loads(result.stdout)


WORKED = {
    "nodePool": "api",
    "policy": "api",
    "periodSeconds": 345600,
    "tRotSeconds": 4620,
    "ageThresholdSeconds": 513780,
    "chances": 2,
    "capacity": 10,
}


def test_the_worked_example() -> None:
    files = [str(EXAMPLES / name) for name in ("policy.yaml", "nodepool.yaml")]
    result = run("-f", files[0], "-f", files[1])
    assert result.exit_code == 0
    assert result.stdout == (
        "NodePool api, policy api\n"
        "  P 4d, t_rot 1h17m, A 5d22h43m, C 10, G 2\n"
        "  a node comes due at age 5d22h43m, is sure of 2 windows, and expires at 14d; "
        "10 rotations can start in each window\n"
        "nothing to object to\n"
    )
    result = run("-f", *files, "--output", "json")
    assert json.loads(result.stdout) == {"findings": [], "pools": [WORKED]}


def test_the_folder_of_examples_is_the_worked_example() -> None:
    result = run("-f", str(EXAMPLES))
    assert result.exit_code == 0
    assert "  P 4d, t_rot 1h17m, A 5d22h43m, C 10, G 2\n" in result.stdout
    assert f"note: folder {EXAMPLES / 'saturday-only'} not entered\n" in result.stdout


def test_the_fatal_example() -> None:
    result = run("-f", str(EXAMPLES / "saturday-only"))
    assert result.exit_code == 1
    assert result.stdout == (
        "NodePool api, policy api\n"
        "  P 7d, t_rot 1h17m, A -1h17m, C 10, G 1\n"
        "  no age is early enough: see below\n"
        f"  FATAL   ANonPositive: {FATAL}\n"
        "1 fatal finding, 0 warnings\n"
    )
    result = run("-f", str(EXAMPLES / "saturday-only"), "--output", "json")
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {
        "findings": [
            {
                "severity": "fatal",
                "code": "ANonPositive",
                "policy": "api",
                "nodePool": "api",
                "message": FATAL,
            }
        ],
        "pools": [WORKED | {"periodSeconds": 604800, "ageThresholdSeconds": -4620, "chances": 1}],
    }


def test_a_misspelt_field_is_refused() -> None:
    """FLUO 193."""
    status, found = judged(policy().replace("timezone", "timezones"), pool())
    assert status == 1
    assert {(row["code"], row["policy"], row["nodePool"]) for row in found["findings"]} == {
        ("PolicyInvalid", "api", None)
    }
    fields = [row["message"].split(" ")[0] for row in found["findings"]]
    assert sorted(fields) == [
        "spec.maintenanceWindows[0].timezone",
        "spec.maintenanceWindows[0].timezones",
    ]
    assert found["pools"] == []


def test_the_second_window_of_two_is_named() -> None:
    """karpenter 1866."""
    second = "{timezone: UTC, days: [Mon], start: 7:5, end: 08:00}"
    broken = policy().replace("06:00}]", f"06:00}}, {second}]")
    lines = told(broken, pool())
    assert lines[0] == "policy api"
    assert lines[1].startswith("  FATAL   PolicyInvalid: spec.maintenanceWindows[1].start ")
    assert lines[2:] == [
        "note: NodePool api: its policy api is invalid",
        "1 fatal finding, 0 warnings",
    ]


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("days: [Wed, Sat]", "days: []", "spec.maintenanceWindows[0].days"),
        ("Asia/Tokyo", "Europe/Berln", "spec.maintenanceWindows[0].timezone"),
        ("start: 02:00", "start: 06:00", "spec.maintenanceWindows[0].end"),
        ("start: 02:00", "start: 0:00", "spec.maintenanceWindows[0].start"),
        (
            "maintenanceWindows: [{timezone: Asia/Tokyo, days: [Wed, Sat], start: 02:00, end: 06:00}]",
            "maintenanceWindows: []",
            "spec.maintenanceWindows",
        ),
        ("spec:", "spec:\n  minRotationChances: 0", "spec.minRotationChances"),
        ("spec:", "spec:\n  surge: {readyTimeout: 15 minutes}", "spec.surge.readyTimeout"),
        ("spec:", "spec:\n  suspnd: true", "spec.suspnd"),
    ],
)
def test_bad_policies_name_the_field(old: str, new: str, field: str) -> None:
    """kured 387, karpenter 3074, BOINC 340 and their kind."""
    status, found = judged(policy().replace(old, new), pool())
    assert status == 1
    assert [row["message"].split(" ")[0] for row in found["findings"]] == [field]


def test_pools_that_nobody_or_two_policies_govern() -> None:
    narrow = "{matchLabels: {workload: web}}"
    status, found = judged(policy("a", narrow), policy("b", narrow), pool("web"), pool("api"))
    assert (status, found) == (
        1,
        {
            "findings": [
                {
                    "severity": "fatal",
                    "code": "PolicyConflict",
                    "policy": None,
                    "nodePool": "web",
                    "message": "policies a and b select it with equally many constraints, so it "
                    "isn't rotated: make one selector more specific, or keep them apart",
                }
            ],
            "pools": [],
        },
    )
    lines = told(policy("a", narrow), policy("b", narrow), pool("web"), pool("api"))
    assert lines[0] == "NodePool web"
    assert lines[2:] == [
        "note: NodePool api: no policy selects it, so it isn't rotated",
        "1 fatal finding, 0 warnings",
    ]


def test_the_more_specific_policy_governs_and_the_other_is_mentioned() -> None:
    status, found = judged(policy("all"), policy("api", "{matchLabels: {workload: api}}"), pool())
    assert (status, found["pools"][0]["policy"]) == (0, "api")
    lines = told(policy("all"), policy("api", "{matchLabels: {workload: api}}"), pool())
    assert lines[3:] == [
        "note: policy all: governs none of the NodePools",
        "nothing to object to",
    ]


K_BELOW_TWO = "minRotationChances K = 1 leaves no second window when one is missed: set it to 2"


def test_a_selector_that_matches_no_nodepool_is_told_to_programs_too() -> None:
    astray = policy("api", "{matchLabels: {karpenter.sh/nodepool: api}}")
    status, found = judged(astray, pool())
    assert (status, found["pools"]) == (0, [])
    (row,) = found["findings"]
    assert (row["severity"], row["code"], row["policy"]) == ("warning", "PolicyUnused", "api")


@pytest.mark.parametrize(
    ("field", "note"),
    [
        ("suspend", "note: NodePool api: api is suspended, so nothing starts"),
        ("dryRun", "note: NodePool api: api is a dry run, so nothing starts"),
    ],
)
def test_a_policy_that_starts_nothing_says_so(field: str, note: str) -> None:
    held = policy().replace("spec:", f"spec:\n  {field}: true")
    assert told(held, pool())[3:] == [note, "nothing to object to"]


def test_a_policy_without_any_nodepool() -> None:
    poor = policy().replace("spec:", "spec:\n  minRotationChances: 1")
    assert told(poor) == [
        "policy api",
        "  warning KBelowTwo: " + K_BELOW_TWO,
        "note: policy api: without a NodePool neither A nor C can be derived; give its file too",
        "0 fatal findings, 1 warning",
    ]
    status, found = judged(poor)
    assert (status, found["pools"]) == (0, [])
    assert [(row["policy"], row["nodePool"]) for row in found["findings"]] == [("api", None)]


def test_a_nodepool_in_days() -> None:
    status, found = judged(policy(), pool().replace("336h", "14d"))
    assert status == 1
    (row,) = found["findings"]
    assert row["code"] == "NodePoolInvalid"
    assert row["message"] == (
        "spec.template.spec.expireAfter '14d' isn't a duration: write one such as 336h, days "
        "as hours"
    )
    assert found["pools"] == [WORKED | {"ageThresholdSeconds": None, "chances": None}]


def test_a_nodepool_whose_nodes_never_expire() -> None:
    assert told(policy(), pool().replace("336h", "Never")) == [
        "NodePool api, policy api",
        "  P 4d, t_rot 1h17m, A none, C 10, G none",
        "  nodes without expireAfter come due only by an explicit ageThreshold or a request",
        "nothing to object to",
    ]
    explicit = policy().replace("spec:", "spec:\n  ageThreshold: 240h")
    assert told(explicit, pool().replace("336h", "Never"))[1:3] == [
        "  P 4d, t_rot 1h17m, A 10d, C 10, G none",
        "  a node comes due at age 10d; 10 rotations can start in each window",
    ]


def test_windows_that_never_close() -> None:
    days = "[Mon, Tue, Wed, Thu, Fri, Sat, Sun]"
    always = policy().replace(
        "[Wed, Sat], start: 02:00, end: 06:00", f"{days}, start: 00:00, end: 24:00"
    )
    assert told(always, pool())[1:3] == [
        "  P 1m, t_rot 1h17m, A 13d22h41m, C 58, G 2",
        (
            "  a node comes due at age 13d22h41m, finds the window always open, and expires at 14d; "
            "58 rotations can start in each 24h"
        ),
    ]


def test_static_pools() -> None:
    static = pool().replace("spec: {template", "spec: {replicas: 3, template")
    status, found = judged(policy(), static)
    assert (status, [row["code"] for row in found["findings"]]) == (0, ["StaticNodePool"])
    fallback = policy().replace("spec:", "spec:\n  surge: {forcefulFallback: {enabled: true}}")
    assert judged(fallback, static)[1]["findings"] == []


def test_claims_with_a_short_lead() -> None:
    one = judged(policy(), pool(), claim("long", "336h"), claim("short", "48h"))[1]["findings"]
    assert [(row["severity"], row["code"]) for row in one] == [("warning", "ShortLead")]
    assert one[0]["message"].startswith("NodeClaim short lives 2d (its own expireAfter), ")
    many = judged(policy(), pool(), *(claim(f"c-{number}", "48h") for number in range(7)))
    assert (many[0], len(many[1]["findings"])) == (0, 1)
    assert many[1]["findings"][0]["message"].startswith(
        "7 NodeClaims have a short lead (c-0, c-1, c-2, c-3, c-4 and 2 more); the first: "
        "NodeClaim c-0 lives 2d "
    )


def test_a_fatal_finding_is_not_buried_under_short_leads() -> None:
    weekly = policy().replace("Wed, Sat", "Sat")
    found = judged(weekly, pool(), claim("c", "336h"))[1]["findings"]
    assert [row["code"] for row in found] == ["ANonPositive"]


def test_claims_of_other_pools_and_unknown_kinds_are_mentioned() -> None:
    stray = claim("c", "48h").replace("nodepool: api", "nodepool: web")
    assert told(policy(), pool(), stray, "kind: Deployment")[3:] == [
        "note: 1 Deployment ignored",
        "note: 1 NodeClaims belong to no NodePool here: c",
        "nothing to object to",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "Error: -: no RotationPolicy there\n"),
        (pool(), "Error: -: no RotationPolicy there\n"),
        ("a: [\n", "Error: standard input: line 2, column 1: did not find expected node content\n"),
    ],
)
def test_unreadable_input(text: str, problem: str) -> None:
    result = run("-f", "-", text=text)
    assert (result.exit_code, result.stderr) == (2, problem)


KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "http://127.0.0.1:9"}}]
users: [{name: a, user: {token: x}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
current-context: a
"""


def test_an_unreachable_cluster(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text(KUBECONFIG)
    result = run("--kubeconfig", str(config))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: cannot reach the API server at http://127.0.0.1:9")
    assert result.stderr.count("\n") == 1
