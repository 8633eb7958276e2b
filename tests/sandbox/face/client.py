"""A bare HTTP client, for what the project's own clients never send."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

import requests

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"


class Client:
    """Answers are ``(status, parsed body)``."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.session = requests.Session()
        self.session.trust_env = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.session.close()

    def ask(
        self, method: str, path: str, body: object = None, content_type: str = "application/json"
    ) -> tuple[int, Any]:
        answer = self.send(method, path, body, content_type)
        return answer.status_code, answer.json()

    def send(
        self, method: str, path: str, body: object = None, content_type: str = "application/json"
    ) -> requests.Response:
        data = None if body is None else json.dumps(body).encode()
        return self.session.request(
            method, self.url + path, data=data, headers={"Content-Type": content_type}, timeout=30
        )

    def get(self, path: str) -> Any:
        status, body = self.ask("GET", path)
        assert status == 200, body
        return body

    def names(self, path: str) -> list[str]:
        return [item["metadata"]["name"] for item in self.get(path)["items"]]

    def watch(self, path: str) -> Iterator[dict[str, Any]]:
        """The events of a watch, until the server ends it."""
        with self.session.get(self.url + path, stream=True, timeout=30) as response:
            assert response.status_code == 200, response.text
            for line in response.iter_lines():
                yield json.loads(line)
