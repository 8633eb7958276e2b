"""Admission: whom the API server asks before it lets a request pass.

``request``: a request as admission sees it. ``registered``: which ValidatingWebhookConfigurations are
about it. ``review``: what is sent, and what the answer means. ``gate``: the calls, and what a failed
one does. ``evictions``: the only requests that are asked about here. Seen in apiserver v0.36.3
``pkg/admission/plugin/webhook``. Not modelled: mutating webhooks, matchConditions, webhooks at a URL.
"""

from hooks.sandbox.webhooks.evictions import EvictionApi
from hooks.sandbox.webhooks.gate import Gate, Services

__all__ = ["EvictionApi", "Gate", "Services"]
