"""The counts that a text in Git says. Tests ask at every turn: each text is read once."""

from functools import lru_cache

import yaml


@lru_cache(maxsize=1024)
def count_of(text: str | bytes) -> int:
    """Return the count of a spec."""
    return int(yaml.load(text, Loader=yaml.CSafeLoader)["spec"]["replicas"])


def counts_of(text: bytes | None) -> dict[str, int]:
    """Return what a `replicas.yaml` says; nothing where there is none."""
    return dict(_listed(text)) if text else {}


@lru_cache(maxsize=1024)
def _listed(text: bytes) -> tuple[tuple[str, int], ...]:
    return tuple(yaml.load(text, Loader=yaml.CSafeLoader)["spec"]["counts"].items())
