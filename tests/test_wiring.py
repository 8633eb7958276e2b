"""Every route that the manifests name is served, on the one clock that was injected."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

from flask import Flask

from hooks import names
from hooks.cluster.connection import connect
from hooks.cluster.credentials import find_access
from hooks.settings import Only, read_settings
from hooks.wiring import build, build_eviction
from tests.cluster.kubeconfigs import kubeconfig
from tests.support import singletonfolders as drains
from tests.support.policyfolders import load
from tests.support.world import Json

NOBODY = "http://127.0.0.1:1"
TLS = {"wsgi.url_scheme": "https"}


def served(tmp_path: Path, now: datetime) -> Flask:
    token = tmp_path / "hook-token"
    token.write_text("s3cret")
    settings = read_settings({"NODEROTATION_TOKEN_FILE": str(token)})
    app = build(settings, connect(find_access(kubeconfig(tmp_path, NOBODY, {}))), lambda: now)
    assert isinstance(app, Flask)
    return app


def post(app: Flask, path: str, body: Json) -> Json:
    answer = app.test_client().post(path, json=body, headers={"Authorization": "Bearer s3cret"})
    assert answer.status_code == 200, answer.text
    decoded: Json = json.loads(answer.data)
    return decoded


def test_a_policy_is_answered_by_the_injected_clock_without_any_call_of_the_api(
    tmp_path: Path,
) -> None:
    stored = load("before-the-window")
    app = served(tmp_path, stored.now)
    assert post(app, names.SYNC_ROTATIONPOLICY, stored.request) == stored.response
    related = post(app, names.CUSTOMIZE_ROTATIONPOLICY, {"parent": stored.request["parent"]})
    assert [rule["resource"] for rule in related["relatedResources"]] == [
        "rotationpolicies",
        "nodepools",
    ]


def test_a_tracked_deployment_is_answered_by_the_injected_clock(tmp_path: Path) -> None:
    stored = drains.load(drains.DEPLOYMENT, "rolling")
    app = served(tmp_path, datetime.fromisoformat(stored.now))
    assert post(app, names.SYNC_DEPLOYMENT, stored["request"]) == stored["response"]
    shown = app.test_client().get(names.METRICS).text
    assert 'gracefuldrain_rollouts_total{outcome="completed"} 0.0' in shown
    assert "gracefuldrain_evictions_total" not in shown
    refused = app.test_client().post(names.SYNC_DEPLOYMENT, json=stored["request"])
    assert refused.status_code == 401


def eviction_server(tmp_path: Path, now: datetime) -> Flask:
    variables = {"NODEROTATION_TLS_CERT_FILE": "tls.crt", "NODEROTATION_TLS_KEY_FILE": "tls.key"}
    settings = read_settings(variables, Only.EVICTION)
    connection = connect(find_access(kubeconfig(tmp_path, NOBODY, {})))
    app = build_eviction(settings, connection, lambda: now, lambda: 1796025600.0)
    assert isinstance(app, Flask)
    return app


def test_an_eviction_is_answered_over_tls_without_a_token(tmp_path: Path) -> None:
    stored = drains.load(drains.EVICTION, "dry-run-of-the-request")
    client = eviction_server(tmp_path, datetime.fromisoformat(stored.now)).test_client()
    path = names.ADMISSION_EVICTION
    answer = client.post(path, json=stored["request"], environ_overrides=TLS)
    assert (answer.status_code, answer.json) == (200, stored["response"])
    assert client.post(path, json=stored["request"]).status_code == 404
    shown = client.get(names.METRICS).text
    assert "\ngracefuldrain_certificate_not_after_timestamp 1.7960256e+09\n" in shown
    assert 'gracefuldrain_evictions_total{decision="allow",reason="DryRun"} 1.0' in shown
    assert 'noderotation_hook_duration_seconds_count{hook="/admission/eviction"' in shown


def test_the_eviction_server_serves_no_hook_and_needs_an_api_server(tmp_path: Path) -> None:
    client = eviction_server(tmp_path, datetime.fromisoformat("2026-11-29T20:00:00Z")).test_client()
    for path in (names.SYNC_NODEPOOL, names.SYNC_DEPLOYMENT, names.CUSTOMIZE_NODEPOOL):
        assert client.post(path, json={}, environ_overrides=TLS).status_code == 404
    assert client.get(names.HEALTHZ).status_code == 200
    assert client.get(names.READYZ).status_code == 503
