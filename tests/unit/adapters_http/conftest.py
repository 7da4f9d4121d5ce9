import pytest

from tests.unit.adapters_http.office import Office


@pytest.fixture
def office() -> Office:
    return Office()
