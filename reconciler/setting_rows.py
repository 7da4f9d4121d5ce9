"""One setting as the outside sees it: what it is called, and what may be written.

Settings of the process (`settings.py`) and of one command alone (beside the command) are rows
alike: the same flags, environment names and refusals.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from reconciler.kube.durations import seconds_of

PREFIX = "GAMEKEEPER_"
TRUTHS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


class BadSetting(Exception):
    """A flag or an environment variable holds what it cannot hold; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Row:
    """One setting. `kind` is the type of its value."""

    name: str
    kind: type
    default: Any
    group: str
    text: str
    off_text: str = ""
    """What the flag does where it turns a default off."""
    unit: str = ""
    least: float | None = None
    most: float = float("inf")
    choices: tuple[str, ...] = ()
    secret: bool = False
    command: str = ""
    """The one command that it belongs to; "" for a setting of the process."""
    named: str = ""
    """What kubectl calls it, where that cannot be or is not its name here."""
    short: str = ""
    """The flag of one letter, where kubectl has one."""
    is_duration: bool = False

    @property
    def flag(self) -> str:
        """The flag, as kubectl spells those that kubectl has too."""
        return "--" + (self.named or self.name).replace("_", "-")

    @property
    def environment(self) -> str:
        """The environment variable."""
        own = f"{self.command}_" if self.command else ""
        return PREFIX + (own + (self.named or self.name)).upper()

    @property
    def wanted(self) -> str:
        """What to write, for people."""
        if self.is_duration:
            return "a time as 45s or 2m, or a number"
        return "a whole number" if self.kind is int else "a number"

    @property
    def read(self) -> Callable[[str], Any]:
        """What makes a value of text, or raises ValueError."""
        return seconds_of if self.is_duration else self.kind


def value_of(row: Row, environment: Mapping[str, str], flags: Mapping[str, Any]) -> Any:
    """Return what a flag says, else the environment, else the default. Raises BadSetting."""
    if flags.get(row.name) is not None:
        given = tuple(flags[row.name]) if row.kind is tuple else flags[row.name]
        return checked(row, given, row.flag)
    text = environment.get(row.environment)
    return checked(row, parsed(row, text), row.environment) if text else row.default


def parsed(row: Row, text: str) -> Any:
    """Read a setting's value from text. Raises BadSetting without repeating a secret."""
    shown = "***" if row.secret else repr(text)
    if row.kind is bool:
        if text.strip().lower() not in TRUTHS:
            raise BadSetting(f"{row.environment} is {shown}: write true or false")
        return TRUTHS[text.strip().lower()]
    if row.kind is tuple:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    try:
        return row.read(text.strip())
    except ValueError:
        unit = f" ({row.unit})" if row.unit else ""
        raise BadSetting(f"{row.environment} is {shown}: write {row.wanted}{unit}") from None


def checked(row: Row, value: Any, where: str) -> Any:
    """Return a value that is within its bounds. Raises BadSetting."""
    if row.choices and value not in row.choices:
        raise BadSetting(f"{where} is {value!r}: write one of {', '.join(row.choices)}")
    # `not >=` refuses NaN too.
    if row.least is not None and not (row.least <= value <= row.most and value < float("inf")):
        bounded = row.most < float("inf")
        wanted = f"from {row.least:g} to {row.most:g}" if bounded else f"{row.least:g} or more"
        raise BadSetting(f"{where} is {value}: write {wanted}")
    return value
