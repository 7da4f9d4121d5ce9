"""webhook: somebody else's count, asked by HTTP and given here as it came.

The question goes out and the answer comes in beside the loop (`reviews.py` has both forms); a
policy only judges what came. What cannot be read holds, a sudden fall takes no room until it lasts
and a zero none while rooms have players (`sudden_falls.py`): nobody's crash moves a room, nor does
a count made of data that is lost.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from reconciler.core.egress import place_of, strange_in
from reconciler.core.mistakes import Mistake, shown
from reconciler.core.policies.policy import Ask, Facts, Form, held, plural
from reconciler.core.policies.reviews import agones_answer_of, agones_scales, answer_of
from reconciler.core.policies.signals import (
    EVERY_SECONDS,
    STALE_SECONDS,
    attested,
    doubt,
    pace_mistakes,
)
from reconciler.core.policies.sudden_falls import doubted, follow, remembered
from reconciler.model.findings import Severity
from reconciler.model.masks import redact
from reconciler.model.refs import Json
from reconciler.model.scaling import Advice, Look


@dataclass(frozen=True, slots=True)
class Webhook:
    """The policy `webhook {url, form, everySeconds, staleSeconds}`."""

    schema: Json
    name: str = "webhook"

    def problems(self, parameters: Json, facts: Facts) -> Iterable[Mistake]:
        """Return what is wrong with its address: a password, say; and with its times."""
        place = place_of(parameters["url"])
        if "@" in parameters["url"].partition("://")[2].partition("/")[0]:
            message = "the address holds a user or a password, which Git keeps for ever"
            yield Mistake(("url",), message, "take it out", "webhook")
        elif place is None:
            yield _no_address(parameters["url"])
        elif redact(place.path) != place.path:
            message = "the address holds what looks like a secret, which Git keeps for ever"
            fix = "take it out: let the network tell who asks, or a proxy of yours add it"
            yield Mistake(("url",), message, fix, "webhook", severity=Severity.WARNING)
        yield from pace_mistakes(parameters)

    def asks(self, parameters: Json) -> tuple[Ask, ...]:
        """Return the call."""
        return (_ask(parameters),)

    def advise(self, parameters: Json, look: Look) -> Advice:
        """Return the count that was answered."""
        ask = _ask(parameters)
        why = doubt(ask, look, float(parameters.get("staleSeconds", STALE_SECONDS)))
        if why:
            return held(look, why)
        answer = look.signals[ask.name].value
        if ask.form == "agones":
            count, told = agones_answer_of(answer, look.load.replicas)
        else:
            count, told = answer_of(answer)
        if count is None:
            return held(look, f"the webhook said nothing to count by: {told}")
        reason = f"the webhook wants {plural(count, 'room')}"
        advice = Advice(count, reason, said=told)
        if ask.form == "agones" and not agones_scales(answer):
            before = remembered(look.memory, ask.name)
            memory = before.undoubted().packed(ask.name) if before else b""
            return attested(ask, look, replace(advice, memory=memory, ground="others"))
        return attested(ask, look, doubted(advice, follow(ask, look, count), ask, look))


def _no_address(url: str) -> Mistake:
    """Return the mistake of a text that is no address, by the character where one is to blame."""
    strange = strange_in(url)
    host = re.split("[/?]", url.partition("://")[2])[0]
    if strange and strange not in host:
        message = f"the address holds {shown(strange)}, which may not stand there as it is"
        coded = "".join(f"%{byte:02X}" for byte in strange.encode(errors="replace"))
        return Mistake(("url",), message, f"write {coded} for it", "webhook")
    message = "the address is none, or could be read in two ways"
    if strange:
        message = f"the address holds {shown(strange)} in the name of its host"
    fix = "write https://scaler.example.com/path: a name in ASCII or a plain address"
    return Mistake(("url",), message, fix, "webhook")


def _ask(parameters: Json) -> Ask:
    form: Form = "agones" if parameters.get("form") == "agones" else "gamekeeper"
    name = f"webhook {parameters['url']} ({form})"
    every_seconds = float(parameters.get("everySeconds", EVERY_SECONDS))
    return Ask(name, "webhook", parameters["url"], form, every_seconds)
