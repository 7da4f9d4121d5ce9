"""The port `Outside`: who is asked and how, and what their answers come to as Signals."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import orjson

from reconciler.adapters.outside.exchange import DEADLINE_SECONDS, Exchange, NoAnswer, Question
from reconciler.core import prometheus_answers
from reconciler.core.egress import Allowed, Place, is_allowed, never_allowed, place_of
from reconciler.model.errors import PortError
from reconciler.model.hiding import hidden
from reconciler.model.json_keys import once
from reconciler.model.refs import Json
from reconciler.model.scaling import Signal


@dataclass(frozen=True, slots=True)
class Prometheus:
    """The one that is asked: its address without the API's path, and what proves who we are."""

    url: str
    token: Callable[[], str] = lambda: ""
    """Read at each query: tokens are renewed in place. Raises Misconfigured."""


class HttpOutside:
    """Asks webhooks that are on the operator's list, and the operator's Prometheus."""

    def __init__(
        self,
        webhooks: Exchange,
        allowed: tuple[Allowed, ...],
        queries: Exchange,
        prometheus: Prometheus | None,
    ) -> None:
        """Ask webhooks among `allowed` by one exchange, and Prometheus by another."""
        self._webhooks = webhooks
        self._allowed = allowed
        self._queries = queries
        self._prometheus = prometheus

    async def review(self, url: str, body: Json, now: float) -> Signal:
        """POST a question to a webhook and return its JSON object."""
        place = place_of(url)
        refusal = self._refusal_of(place)
        if place is None or refusal:
            return Signal(now, trouble=refusal)
        who = place.origin.written
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        question = Question(who, place.url, headers, orjson.dumps(body))
        try:
            answer = await self._webhooks.ask(question)
        except NoAnswer as error:
            return Signal(now, trouble=str(error))
        if not 200 <= answer.status < 300:
            return Signal(now, trouble=f"{who} answers {answer.status}")
        found = _json(answer.body)
        if not isinstance(found, dict):
            return Signal(now, trouble=f"{who} answers with what is no JSON object")
        wrong = _unclear(answer.body)
        return Signal(now, trouble=f"{who} answers with {wrong}") if wrong else Signal(now, found)

    async def query(self, query: str, now: float) -> Signal:
        """Ask Prometheus for the value of a query now."""
        if self._prometheus is None:
            return Signal(now, trouble="no Prometheus is named: set --prometheus-url")
        words = urlencode({"query": query, "timeout": f"{math.ceil(DEADLINE_SECONDS)}s"})
        url = f"{self._prometheus.url}/api/v1/query?{words}"
        try:
            token = self._prometheus.token()
            headers = {"Accept": "application/json"}
            if token:
                headers["Authorization"] = f"Bearer {token}"
            answer = await self._queries.ask(Question("Prometheus", url, headers))
        except (NoAnswer, PortError) as error:
            return Signal(now, trouble=str(error))
        if answer.status == 200:
            return prometheus_answers.signal_of(_json(answer.body), now)
        return Signal(now, trouble=_refused(answer.status, _json(answer.body), token))

    async def close(self) -> None:
        """End what is open."""
        await self._webhooks.close()
        await self._queries.close()

    def _refusal_of(self, place: Place | None) -> str:
        if place is None:
            return "its address cannot be read"
        origin = place.origin
        refusal = never_allowed(origin)
        if refusal:
            return f"{origin.written} is {refusal}, which is asked for nobody"
        if not is_allowed(origin, self._allowed):
            who = origin.written
            return f"{who} may not be asked by this process: its operator sets --egress-hosts {who}"
        return ""


def _refused(status: int, found: Any, token: str) -> str:
    if status in (401, 403):
        return f"Prometheus refuses us ({status}): see --prometheus-token-file"
    if isinstance(found, dict) and isinstance(found.get("error"), str):
        # A proxy before it may say back what it was told.
        return prometheus_answers.refusal_of({**found, "error": hidden(found["error"], [token])})
    if status == 404:
        return "Prometheus has no API there (404): see --prometheus-url"
    return f"Prometheus answers {status}"


def _json(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None


def _unclear(body: bytes) -> str:
    """Say what keeps valid JSON from saying one thing, "" where nothing does."""
    try:
        json.loads(body, object_pairs_hook=once, parse_int=str, parse_float=str)
    except ValueError:
        return "an object that has a key twice"  # which of two counts is meant nobody can tell
    except RecursionError:
        return "JSON that is too deep to be looked at"
    return ""
