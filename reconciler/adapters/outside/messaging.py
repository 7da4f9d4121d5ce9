"""The port `Messenger`: webhooks and Slack's incoming webhooks of the operator's file."""

import hashlib
import hmac

import orjson

from reconciler.adapters.outside.exchange import Exchange, Question
from reconciler.adapters.outside.posting import post, refusal_of, secret_of
from reconciler.core.addresses import is_loopback
from reconciler.core.egress import Place, place_of
from reconciler.core.news_text import slack_text
from reconciler.model.errors import Misconfigured
from reconciler.model.notifications import Form, Message, Target

SIGNATURE = "X-Gamekeeper-Signature"


class HttpMessenger:
    """Sends each message on a connection of its own, to whom the operator named."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    async def send(self, target: Target, message: Message) -> None:
        """Deliver a message. Raises Unavailable, Denied, Misconfigured."""
        place = _place_of(target)
        headers = {"Content-Type": "application/json"}
        if target.form is Form.SLACK:
            body = orjson.dumps({"text": slack_text(message.text)})
        else:
            body = orjson.dumps(message.body)
            if target.secret_file:
                secret = secret_of(target.secret_file, f"the secret of {target.name}").encode()
                signed = hmac.new(secret, body, hashlib.sha256).hexdigest()
                headers[SIGNATURE] = f"sha256={signed}"
        await post(self._exchange, Question(target.name, place.url, headers, body))

    async def close(self) -> None:
        """End what is open."""
        await self._exchange.close()


def _place_of(target: Target) -> Place:
    what = f"the address of {target.name}"
    url = target.url or secret_of(target.url_file, what)
    place = place_of(url)
    if place is None:
        raise Misconfigured(f"{what} is none that is asked: write https://…, without a user")
    host = place.origin.host
    is_here = is_loopback(host) or host == "localhost"
    if place.origin.scheme == "http" and target.url_file and not is_here:
        raise Misconfigured(f"{what} is a secret, and goes over https only")
    # A name is judged when it is looked up; an address is not looked up at all.
    refusal = refusal_of(host) if place.origin.is_address else ""
    if refusal:
        raise Misconfigured(f"{what} is {refusal}, where nobody is told")
    return place
