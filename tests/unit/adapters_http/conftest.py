from collections.abc import AsyncIterator

import pytest

from reconciler.adapters.http import connections, server
from tests.unit.adapters_http.listening import Listener, listening
from tests.unit.adapters_http.office import Office


@pytest.fixture
def office() -> Office:
    return Office()


@pytest.fixture
async def listener(office: Office) -> AsyncIterator[Listener]:
    async with listening(office) as made:
        yield made


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Make the sweep come often, and the deadline that the test names pass at once."""
    monkeypatch.setattr(server, "SWEEP_SECONDS", 0.01)
    monkeypatch.setattr(connections, request.param, 0.0)
