"""Numbers to change in YAML text, and why one was left: values, before anything is written."""

from dataclasses import dataclass

from reconciler.model.refs import WorkloadKey


@dataclass(frozen=True, slots=True)
class Edit:
    """One number of one document that shall be another one.

    `path` leads to it from the document's root, `("spec", "replicas")`.
    """

    where: WorkloadKey
    path: tuple[str | int, ...]
    value: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """An edit that was not made, so that no other byte changes meaning.

    `line` counts from 1; 0 is the whole file. `reason` is a sentence that a person can act on.
    """

    edit: Edit
    line: int
    reason: str
