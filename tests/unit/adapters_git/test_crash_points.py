"""The child that runs git dies at each of its writes of files and at each git that it starts.

A hook of Python's own audit numbers them: opening a file to write, making, renaming and removing
one, and every git, before which and, at the next number, after which the child is killed. Another
child then goes on from what lies there: what was fetched is read, what was pushed stands on the
branch once, and nobody's commit is lost (row 1). Kills inside of git are `test_mirror_survival`'s.
"""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from reconciler.adapters.git.source import Source
from reconciler.adapters.git.wire import told
from tests.contract.pushes import change
from tests.gitservers.repositories import BareRepository, git_environment
from tests.loop.sweeps import part
from tests.scorecard import score

pytestmark = pytest.mark.long

SETTING = "GAMEKEEPER_TEST_DIES_AT"
PROGRAM = """
import json, os, signal, sys
at, counted = int(os.environ["GAMEKEEPER_TEST_DIES_AT"]), []
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

def heard(event, given):
    if event == "open":
        name, mode, flags = given
        writes = set(mode) & set("wax+") if isinstance(mode, str) else flags and flags & WRITES
        if not writes or str(name).startswith(("/dev/", "/proc/")):
            return
        what = f"open {name}"
    elif event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate"):
        what = f"{event} {given[0]}"
    elif event == "subprocess.Popen":
        what = "git " + " ".join(str(word) for word in given[1][1:])
    else:
        return
    if len(counted) == at:
        os.kill(os.getpid(), signal.SIGKILL)
    counted.append(what)

from reconciler.adapters.git.child import Session
asked = json.load(sys.stdin)
sys.dont_write_bytecode = True
session = Session()
sys.addaudithook(heard)
session.open_mirror(asked["source"], asked["cache"])
head, _ = session.fetch()
there, body = session.blob(head["commit"], asked["file"])
if body.decode() != asked["text"]:
    session.attached = asked["text"].encode()
    change = {**asked["change"], "base": head["commit"]}
    made, _ = session.write(change)
    session.push(change, made["commit"])
at = -1
print(json.dumps(counted))
"""
FILE, BEFORE, AFTER = "rooms/arena.yaml", "replicas: 3\n", "replicas: 5\n"
FEWEST = {"an empty cache": 20, "a mirror behind": 12}
"""How many writes there are at least, by where a child begins."""


@dataclass(frozen=True)
class Place:
    """A host, and the cache of who mirrors it."""

    host: BareRepository
    cache: Path

    def kept(self, at: Path) -> None:
        """Keep how both are now."""
        shutil.copytree(self.host.path, at / "srv")
        if self.cache.exists():
            shutil.copytree(self.cache, at / "cache")

    def restored(self, kept: Path) -> None:
        """Let both be again as they were kept, at their old places."""
        for path in (self.host.path, self.cache):
            shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(kept / "srv", self.host.path)
        if (kept / "cache").exists():
            shutil.copytree(kept / "cache", self.cache)

    def run(self, at: int = -1) -> list[str] | None:
        """Let a child fetch, and commit and push what does not stand there yet.

        Return what it wrote, None where it died.
        """
        edit, _ = told(change("0" * 40, {FILE: AFTER.encode()}))
        source = Source(f"file://{self.host.path}").as_dict()
        asked = {"source": source, "cache": str(self.cache), "change": edit}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            input=json.dumps({**asked, "file": FILE, "text": AFTER}),
            env=git_environment(**{SETTING: str(at)}),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == -signal.SIGKILL:
            return None
        assert done.returncode == 0, done.stderr[-1500:]
        counted: list[str] = json.loads(done.stdout)
        return counted


def _begun(folder: Path, where: str) -> Place:
    """Make a host, and a cache as it is `where` a child begins."""
    place = Place(BareRepository.create(folder / "srv", "fleet.git"), folder / "cache")
    place.host.commit({FILE: AFTER, "gamekeeper.yaml": "kind: Config\n"}, "Start")
    if where != "an empty cache":
        assert place.run() is not None
    place.host.commit({FILE: BEFORE}, "A person scales it in")
    return place


def _litter(cache: Path) -> Iterator[str]:
    for path in cache.rglob("*"):
        if path.name.endswith(".lock") and path.parent != cache:
            yield str(path.relative_to(cache))
        if path.name.startswith("tmp_") or path.name.endswith(".new"):
            yield str(path.relative_to(cache))


@pytest.mark.parametrize("where", list(FEWEST))
def test_a_child_that_dies_at_any_write_of_a_file_is_gone_on_from(
    tmp_path: Path, where: str
) -> None:
    place = _begun(tmp_path, where)
    place.kept(tmp_path / "kept")
    person = place.host.head()
    counted = place.run()
    assert counted is not None
    assert person is not None
    assert len(counted) >= FEWEST[where], counted
    for at in part(range(len(counted) + 1), 10):
        score(1, deaths_at_files_and_git=1, failed=1)
        place.restored(tmp_path / "kept")
        assert (place.run(at) is None) == (at < len(counted)), f"point {at}"
        assert place.run() is not None
        told_of = f"point {at}, before {[*counted, 'its end'][at]}"
        ours = place.host.git("log", "--format=%an", f"{person}..main").splitlines()
        assert ours == ["Gamekeeper"], f"{told_of}: {len(ours)} commits stand on {person[:12]}"
        assert place.host.git("show", f"main:{FILE}") == AFTER.strip(), told_of
        assert list(_litter(place.cache)) == [], told_of
        (mirror,) = place.cache.glob("*.git")
        checked = ["git", f"--git-dir={mirror}", "fsck", "--strict"]
        subprocess.run(checked, check=True, env=git_environment(), capture_output=True)
        score(1, failed=-1)
