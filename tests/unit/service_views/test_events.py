import pytest

from reconciler.model.errors import Denied, PortError, Unavailable
from reconciler.model.refs import Json, ObjectRef
from reconciler.service.events import LONGEST_MESSAGE, SILENCE_SECONDS, Events
from tests.unit.service_views.scripted import NoCluster, VirtualClock

NAMESPACE = ObjectRef("v1", "Namespace", "", "arena")
RECORD = ObjectRef("v1", "ConfigMap", "gamekeeper", "record")


class Written(NoCluster):
    """A cluster that takes Events, or fails."""

    def __init__(self) -> None:
        self.bodies: list[Json] = []
        self.error: PortError | None = None

    async def create(self, body: Json, *, dry_run: bool = False) -> Json:
        if self.error is not None:
            raise self.error
        self.bodies.append(body)
        return body


@pytest.fixture
def written() -> Written:
    return Written()


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def events(written: Written, clock: VirtualClock) -> Events:
    return Events(written, "studio", clock)


async def test_one_event_for_an_object_and_reason_in_five_minutes(
    events: Events, written: Written, clock: VirtualClock
) -> None:
    assert await events.tell(RECORD, "u", "Held", "first")
    assert not await events.tell(RECORD, "u", "Held", "second")
    assert await events.tell(RECORD, "u", "Refused", "another reason")
    assert await events.tell(NAMESPACE, "n", "Held", "another object")
    clock.at += SILENCE_SECONDS
    assert await events.tell(RECORD, "u", "Held", "third")
    messages = [body["message"] for body in written.bodies]
    assert messages == ["first", "another reason", "another object", "third"]
    assert len({body["metadata"]["name"] for body in written.bodies}) == 4


@pytest.mark.parametrize("error", [Denied("no"), Unavailable("terminating")])
async def test_an_event_that_cannot_be_written_is_no_error(
    events: Events, written: Written, error: PortError
) -> None:
    written.error = error
    assert not await events.tell(RECORD, "u", "Held", "lost")


async def test_an_event_of_a_namespace_stands_inside_it(events: Events, written: Written) -> None:
    await events.tell(NAMESPACE, "n", "Held", "x" * 5000, "Warning")
    [body] = written.bodies
    assert body["metadata"]["namespace"] == body["involvedObject"]["namespace"] == "arena"
    assert body["involvedObject"]["kind"] == "Namespace"
    assert (body["type"], len(body["message"])) == ("Warning", 1024)


async def test_an_event_says_no_secret_and_gives_no_orders(
    events: Events, written: Written
) -> None:
    said = "env: Invalid value: password=s3cret\x1b[2J\nall is well" + "." * 2000
    await events.tell(RECORD, "u", "Held", said)
    (body,) = written.bodies
    assert body["message"].startswith("env: Invalid value: password=***")
    assert body["message"].isprintable()
    assert len(body["message"]) == LONGEST_MESSAGE
