"""A fleet whose repository is served over https with a password, and people who push there."""

import random
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from tests.canaries.places import canary
from tests.e2e.processes import Fleet, fleet
from tests.gitservers.http import HttpGitServer
from tests.gitservers.repositories import BareRepository, git_environment
from tests.loop.scaling.commits import Written

USER, PASSWORD = "bot", canary("git password")
AUTHOR = "Fleet Bot"
NAME = "fleet.git"


class Person:
    """Somebody with a clone, who pushes over https until it is taken. `lost` counts lost races."""

    def __init__(self, folder: Path, url: str, settings: dict[str, str]) -> None:
        self._clone = BareRepository.create(folder, "person.git")
        self._url, self._settings = url, settings
        self.lost = 0

    def text(self, path: str) -> str:
        """Fetch, and return a file as it stands on the branch."""
        self._git("fetch", "--quiet", self._url, "+refs/heads/main:refs/heads/main")
        return self._git("show", f"main:{path}")

    def edit(self, path: str, line: str, message: str = "a person's line") -> None:
        """Add a comment to a file: at its end, or where our number stands."""
        while True:
            text = self.text(path)
            if len(line) % 2:
                text = f"{text}{line}\n"
            else:
                text = text.replace("  replicas:", f"  {line}\n  replicas:", 1)
            if self.push({path: text}, message):
                return

    def push(self, files: dict[str, str | None], message: str) -> bool:
        """Commit on what was fetched, and push; whether it was taken."""
        self._clone.commit(files, message)
        try:
            self._git("push", "--quiet", self._url, "main:main")
        except subprocess.CalledProcessError:
            self.lost += 1
            return False
        return True

    def _git(self, *words: str) -> str:
        argv = ["git", "-C", str(self._clone.path), *words]
        environment = git_environment(**self._settings)
        return subprocess.run(
            argv, capture_output=True, check=True, env=environment
        ).stdout.decode()


class Busybody(threading.Thread):
    """Pushes lines into files, one after the other, all the time. `lines` are those taken.

    It rests as people do, now less, now more: `pause_seconds` on the average.
    """

    def __init__(self, person: Person, paths: Sequence[str], pause_seconds: float = 0.5) -> None:
        super().__init__(name="person")
        self._person, self._paths, self._pause_seconds = person, paths, pause_seconds
        self._over = threading.Event()
        self.lines: list[str] = []

    @property
    def races(self) -> int:
        """How often somebody else was faster."""
        return self._person.lost

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()

    def run(self) -> None:
        """Push until it is over; a host in trouble is tried again."""
        number = 0
        while not self._over.wait(random.expovariate(1 / self._pause_seconds)):
            line = f"# person {number}"
            with suppress(subprocess.CalledProcessError):
                self._person.edit(self._paths[number % len(self._paths)], line)
                self.lines.append(line)
            number += 1


class Hosted:
    """A fleet, and the host of its repository."""

    def __init__(self, there: Fleet, host: HttpGitServer) -> None:
        self.there, self.host = there, host
        self.bare = BareRepository(there.bare)
        (there.folder / "token").write_text(f"{PASSWORD}\n")

    def flags(self) -> tuple[str, ...]:
        """Return how `gamekeeper run` reaches the host."""
        return (
            *("--repo", self.host.url(NAME), "--git-username", USER),
            *("--git-token-file", str(self.there.folder / "token")),
            *("--git-certificate-authority-file", str(self.host.authority_file)),
            *("--commit-author", f"{AUTHOR} <bot@example.com>"),
        )

    def person(self, name: str = "person") -> Person:
        """Return somebody with a clone."""
        folder = self.there.folder / name
        url = self.host.url(NAME, with_credentials=True)
        return Person(folder, url, self.host.environment())

    def texts(self) -> dict[str, str]:
        """Return the specs on the branch, by their paths."""
        return texts_of(self.bare)

    def commits(self) -> Sequence[Written]:
        """Return the commits of the branch, the oldest first; the very first is left out."""
        return commits_of(self.bare)


@contextmanager
def hosted(folder: Path, made: type[HttpGitServer] = HttpGitServer) -> Iterator[Hosted]:
    """Start a sandbox, and serve the repository over https with a password."""
    with fleet(folder) as there:
        bare = BareRepository(there.bare)
        bare.git("config", "http.receivepack", "true")
        bare.git("config", "core.logAllRefUpdates", "always")
        with made(folder, user=USER, password=PASSWORD) as host:
            yield Hosted(there, host)


def texts_of(bare: BareRepository) -> dict[str, str]:
    """Return the specs on the branch, by their paths."""
    listed = bare.git("ls-tree", "-r", "main", "--", "schedulers").splitlines()
    rows = [line.split(None, 3) for line in listed]
    contents = _contents(bare, [row[2] for row in rows])
    return {row[3]: contents[row[2]].decode() for row in rows}


def commits_of(bare: BareRepository, author: str = AUTHOR) -> Sequence[Written]:
    """Return the commits of a real branch as `commits.in_memory` does those of one in memory."""
    words = ("log", "--first-parent", "--reverse", "--no-abbrev", "--raw", "-m", "main")
    told = bare.git(*words, "--format=%x01%an%x02%B%x02").split("\x01")[1:]
    rows = [entry.split("\x02") for entry in told][1:]
    changes = [[line.split() for line in row[2].splitlines() if line[:1] == ":"] for row in rows]
    ids = {
        blob for change in changes for line in change for blob in line[2:4] if set(blob) != {"0"}
    }
    contents = _contents(bare, sorted(ids))
    return [
        Written(
            row[0] == author,
            row[1],
            {line[5]: (contents.get(line[2], b""), contents.get(line[3], b"")) for line in change},
        )
        for row, change in zip(rows, changes, strict=True)
    ]


def _contents(bare: BareRepository, ids: Sequence[str]) -> dict[str, bytes]:
    argv = ["git", "-C", str(bare.path), "cat-file", "--batch"]
    asked = "".join(f"{name}\n" for name in ids).encode()
    output = subprocess.run(argv, input=asked, capture_output=True, check=True).stdout
    found = {}
    while output:
        head, _, output = output.partition(b"\n")
        name, _, size = head.decode().split()
        found[name], output = output[: int(size)], output[int(size) + 1 :]
    return found
