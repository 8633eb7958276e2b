"""The AdmissionReview that goes back to the API server.

Owns its shape: always HTTP 200; what is denied says so inside, with the 429 that every evictor
takes for "not now", as if a PodDisruptionBudget stood against it. Source: design/drain.md.
"""

from __future__ import annotations

import json
from typing import Final

from hooks.drain.consequences import SOFTWARE, Verdict
from hooks.drain.reasons import Answer
from hooks.protocol.review import Question

TOO_MANY: Final = 429


def render(question: Question, verdict: Verdict) -> bytes:
    """The answer's bytes: the same verdict gives the same bytes.

    Warnings reach the evictor with either answer: what an operator has to change, and what isn't
    protected.
    """
    response: dict[str, object] = {
        "uid": question.uid,
        "allowed": verdict.answer is Answer.ALLOW,
    }
    warnings = [
        *verdict.warnings,
        *(f"{SOFTWARE}: {finding.message}" for finding in verdict.findings),
    ]
    if warnings:
        response["warnings"] = warnings
    if verdict.answer is Answer.DENY:
        # No details.retryAfterSeconds: clients would then repeat the call inside of it, unasked.
        response["status"] = {
            "code": TOO_MANY,
            "reason": "TooManyRequests",
            "message": verdict.message,
        }
    review = {"apiVersion": question.version, "kind": "AdmissionReview", "response": response}
    return json.dumps(review, separators=(",", ":")).encode()
