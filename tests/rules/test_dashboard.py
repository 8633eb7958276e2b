"""The dashboard's queries on what both servers export; needs promtool."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from hooks import names
from hooks.drain.reasons import Answer, Outcome
from hooks.drain.reasons import Reason as DrainReason
from hooks.rotation.outcomes import FAILURE, SUCCESS
from hooks.rotation.reasons import Reason
from tests.monitoring_files import queries_of_the_dashboard
from tests.rules.alerting import IN_WINDOW, begun, ended, shown
from tests.rules.promtool import judge


def test_every_query_of_the_dashboard_finds_what_is_exported(tmp_path: Path) -> None:
    story, first, second = begun()
    webhook = story.webhook("eviction-1")
    shown(story, replace(IN_WINDOW, in_progress=True), Reason.SURGE_PENDING)
    first.metrics.called("get", "nodes", "ok")
    second.metrics.called("get", "nodes", "notFound")
    webhook.evictions.answered(Answer.DENY, DrainReason.ROLLOUT_REQUESTED)
    story.minutes(30)
    first.count(ended(SUCCESS))
    second.count(ended(FAILURE))
    second.rollouts.ended(Outcome.COMPLETED, timedelta(seconds=40))
    webhook.evictions.answered(Answer.ALLOW, DrainReason.SUCCESSOR_READY)
    story.minutes(30)
    # Nothing is frozen, and NaN is no answer.
    queries = [f"count(({query.text}) > -Inf) > bool 0" for query in queries_of_the_dashboard()
               if names.FREEZE_UNTIL.name not in query.text]  # fmt: skip
    answer = [{"labels": "{}", "value": 1}]
    tests = [{"expr": query, "eval_time": "89m", "exp_samples": answer} for query in queries]
    judge(tmp_path, story, promql_expr_test=tests)
