"""Ninety policies that decide at once, while a person edits the very same files."""

import re
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import yaml

from tests.e2e.hosted import Busybody, Hosted, hosted
from tests.e2e.processes import until
from tests.loop.scaling.commits import foreign_bytes, steps_of
from tests.loop.scaling.house import scaled

WORKLOADS = 90
LONGEST_SECONDS = 300.0
COLLEAGUE = "# a colleague's line"
FLAGS = ("--no-lease", "--poll-seconds", "5", "--listen", "127.0.0.1:0")
_AT = re.compile(r"^  (\S+Z) \d+ -> \d+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Rush:
    """What came of it. `seconds` passed from the end of the quiet time until all was in Git."""

    commits: int
    seconds: float
    people: int
    races: int
    lost: tuple[str, ...]
    """What stands nowhere though it was decided, or pushed by a person."""
    foreign: tuple[str, ...]
    forced: int

    def __str__(self) -> str:
        """Return the figures in a sentence."""
        return (
            f"{WORKLOADS} decisions in {self.commits} commits, all in Git {self.seconds:.1f} s"
            f" after the quiet time, beside {self.people} commits of a person, who lost"
            f" {self.races} races"
        )


def play(folder: Path, quiet_seconds: int, pause_seconds: float) -> Rush:
    """Let ninety policies decide when the process starts, and wait until Git has all of it."""
    names = [f"arena-{number:02}" for number in range(WORKLOADS)]
    files = {f"schedulers__{name}": _spec(name) for name in names}
    config = {"kind": "Config", "apiVersion": "gamekeeper.dev/v1"}
    config_text = yaml.safe_dump({**config, "spec": {"writeBack": {"quietSeconds": quiet_seconds}}})
    paths = [f"schedulers/{name}.yaml" for name in names]
    with hosted(folder) as served:
        served.there.commit(gamekeeper=config_text, **files)
        with Busybody(served.person(), paths, pause_seconds) as person:
            served.there.start_loop("cache", *FLAGS, *served.flags())
            until("a decision acts", lambda: _acts(served, names[0]), LONGEST_SECONDS)
            # The busybody rests by chance, at times for longer than all of this takes.
            served.person("colleague").edit(paths[-1], COLLEAGUE)
            try:
                until("all in Git", lambda: _is_in_git(served), LONGEST_SECONDS)
            except AssertionError as late:
                raise AssertionError(f"{late}\n{served.there.log()}") from late
            landed_at = time.time()
        return _judged(served, person, paths, quiet_seconds, landed_at)


def _spec(name: str) -> str:
    """Return a spec with two rooms in Git and three wanted at every time of day."""
    return scaled(2, [{"replicas": 3}]).replace("arena", name)


def _acts(served: Hosted, name: str) -> bool:
    """Whether the third room is there: what is decided waits for the quiet time only in Git."""
    return len(served.there.pods(name)) == 3


def _is_in_git(served: Hosted) -> bool:
    texts = served.texts()
    return sum("\n  replicas: 3\n" in text for text in texts.values()) == WORKLOADS


def _judged(
    served: Hosted, person: Busybody, paths: list[str], quiet_seconds: int, landed_at: float
) -> Rush:
    commits, texts = served.commits(), served.texts()
    ours = [commit for commit in commits if commit.ours]
    messages = "\n".join(commit.message for commit in ours)
    first = min(datetime.fromisoformat(at).timestamp() for at in _AT.findall(messages))
    told = {name for commit in ours for name, *_ in steps_of(commit.message)}
    everything = "\n".join(texts.values())
    lost = [path for path in paths if Path(path).stem not in told]
    lost += [line for line in [*person.lines, COLLEAGUE] if f"{line}\n" not in f"{everything}\n"]
    return Rush(
        len(ours),
        max(0.0, landed_at - first - quiet_seconds),
        len(commits) - len(ours),
        person.races,
        tuple(lost),
        tuple(foreign_bytes(commits)),
        served.bare.forced_updates(),
    )
