"""Tames every run here."""

import pytest


@pytest.fixture(autouse=True)
def _no_time_of_this_machine(no_time_of_this_machine: None) -> None:
    """Every run here is in virtual time."""
