"""The runs of the table, one line of JSON each: what was played is never played again.

A line is appended in one write, so that a run that is cut off loses itself only. The key of a
run holds a digest of the policy and of the yardstick: a changed policy is played anew.
"""

import hashlib
import json
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import reconciler.core.policies
from benchmarks.yardstick import anchors, world
from benchmarks.yardstick.demand import GAMES, Case, Demand, demand
from reconciler.core import demand as history
from reconciler.core.policies.adaptive_decision import Parameters, decide

CASES = tuple(
    Case(game, peak, startup) for startup in (60, 300) for game in GAMES for peak in (50, 300, 2000)
)
ANCHORS = tuple(anchors.SEARCHES)
ADAPTIVE = "adaptive"


@dataclass(frozen=True, slots=True)
class Work:
    """One run: a case with one seed of `adaptive`, or one anchor with all its seeds (seed 0)."""

    case: Case
    policy: str
    seed: int

    @property
    def key(self) -> str:
        """Return what tells it from all other runs."""
        return f"{self.case.name} {self.policy} {self.seed} {digest(self.policy)}"


def digest(policy: str) -> str:
    """Return a short digest of the code that a run of this policy depends on."""
    here = Path(__file__).parent
    files = [here / "demand.py"]
    if policy == ADAPTIVE:
        policies = Path(next(iter(reconciler.core.policies.__path__)))
        files += [here / "world.py", Path(history.__file__), *policies.glob("adaptive_*.py")]
    else:
        files += [here / "anchors.py"]
    digested = hashlib.sha256()
    for file in sorted(files):
        digested.update(file.read_bytes())
    return digested.hexdigest()[:12]


def carry_out(work: Work) -> dict[str, Any]:
    """Play one run and return its line, with how long that took."""
    begun = time.monotonic()
    played = _played(work)
    return {**played, "seconds": round(time.monotonic() - begun, 1)}


def _played(work: Work) -> dict[str, Any]:
    if work.policy != ADAPTIVE:
        return {"key": work.key, **asdict(anchors.best(work.policy, work.case))}
    score = adapt(work.case, demand(work.case, work.seed), work.seed)
    return {
        "key": work.key,
        "arrivals": score.arrivals.tolist(),
        "misses": score.misses.tolist(),
        "idle_hours": score.idle_hours,
        "paid_idle_hours": score.paid_idle_hours,
        "busy_hours": score.busy_hours,
        "starts": score.starts,
        "decision_microseconds": 1e6 * score.decision_seconds / score.decisions,
    }


def adapt(case: Case, month: Demand, seed: int) -> world.Score:
    """Play a demand against `adaptive` with its defaults, whatever the case is.

    How long rooms take to start it learns from them.
    """
    return world.run(case, month, seed, lambda look: decide(Parameters(), look))


def kept(path: Path) -> dict[str, dict[str, Any]]:
    """Return the runs that a file holds, by key; a line that was cut off is left out."""
    found: dict[str, dict[str, Any]] = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                run = json.loads(line)
            except ValueError:
                continue
            found[run["key"]] = run
    return found


def play(wanted: list[Work], path: Path, processes: int) -> dict[str, dict[str, Any]]:
    """Play what is not kept yet, and return all that was wanted, by key."""
    found = kept(path)
    missing = [work for work in wanted if work.key not in found]
    print(f"{len(missing)} of {len(wanted)} runs to play, in {processes} processes", flush=True)
    with ProcessPoolExecutor(processes) as pool:
        for place, done in enumerate(as_completed([pool.submit(carry_out, w) for w in missing]), 1):
            run = done.result()
            found[run["key"]] = run
            _append(path, json.dumps(run, sort_keys=True))
            print(f"{place}/{len(missing)} {run['key']}", flush=True)
    return {work.key: found[work.key] for work in wanted}


def _append(path: Path, line: str) -> None:
    """Append a line in one write; a line that was cut off before is ended first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    cut_off = path.exists() and not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(file, ("\n" * cut_off + line + "\n").encode())
        os.fsync(file)
    finally:
        os.close(file)
