"""Reading, through the port: what is right, what is wrong, and files that kill their worker."""

import re
import socket
from collections.abc import Iterator

import pytest

from reconciler.adapters.compiler.compiler import WorkerCompiler
from reconciler.adapters.compiler.limits import Limits, Patience
from reconciler.adapters.compiler.zygote import Zygote
from reconciler.model.readings import Reading
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Permissions
from reconciler.model.trees import Entry, EntryKind, Tree
from tests.contract.compiler_world import OURS, compiler

CONFIG = "apiVersion: gamekeeper.dev/v1\nkind: Config\nspec: {}\n"
SPEC = """\
apiVersion: gamekeeper.dev/v1
kind: Scheduler
metadata:
  name: {name}
spec:
  game: arena
  replicas: 3
  reports: none
  template:
    spec:
      containers:
        - name: game
          image: arena:1
"""


def spec(name: str) -> str:
    return SPEC.format(name=name)


def tree(files: dict[str, str], config: str = CONFIG) -> Tree:
    entries = {
        path: Entry(EntryKind.FILE, f"blob-{path}", len(text), text.encode())
        for path, text in {"gamekeeper.yaml": config, **files}.items()
    }
    return Tree("abc123", entries, frozenset({"schedulers"}), ("parent",))


def scheduler(name: str) -> WorkloadKey:
    return WorkloadKey("Scheduler", name, name)


class Counted(Zygote):
    """Counts the workers that were asked for."""

    hired = 0

    def hire(self, limits: Limits) -> tuple[socket.socket, socket.socket]:
        self.hired += 1
        return super().hire(limits)


@pytest.fixture(scope="module")
def zygote() -> Iterator[Counted]:
    made = Counted("tests.contract.frail_nursery")
    yield made
    made.close()


async def reading_of(zygote: Zygote, files: dict[str, str], config: str = CONFIG) -> Reading:
    return await WorkerCompiler(zygote, OURS).read(tree(files, config), Permissions())


async def test_what_is_read_can_be_rendered() -> None:
    async with compiler() as made:
        reading = await made.read(tree({"schedulers/a.yaml": spec("arena")}), Permissions())
        assert reading.commit == "abc123"
        assert reading.config is not None
        assert reading.findings == ()
        workload = reading.workloads[scheduler("arena")]
        assert workload.source.file == "schedulers/a.yaml"
        assert (workload.replicas_source.line, workload.replicas) == (7, 3)
        assert scheduler("arena") in await made.render([workload], "prod")


async def test_what_is_wrong_is_told_and_holds_only_its_own(zygote: Counted) -> None:
    wrong = spec("wrong").replace("replicas: 3", "replicas: many")
    reading = await reading_of(
        zygote,
        {"schedulers/a.yaml": spec("right"), "schedulers/b.yaml": wrong, "schedulers/c.yaml": "["},
    )
    assert set(reading.workloads) == {scheduler("right")}
    assert set(reading.invalid) == {scheduler("wrong")}
    assert reading.unreadable == ("schedulers/c.yaml",)
    assert {(found.file, found.line > 0) for found in reading.findings} == {
        ("schedulers/b.yaml", True),
        ("schedulers/c.yaml", True),
    }


async def test_permissions_reach_the_worker() -> None:
    files = {"schedulers/a.yaml": spec("arena")}
    async with compiler() as made:
        mine = await made.read(tree(files), Permissions())
        reserved = Permissions(reserved_namespaces=frozenset({"arena"}))
        theirs = await made.read(tree(files), reserved)
    assert not mine.errors
    assert theirs.errors


async def test_a_thousand_specs_are_within_the_workers_patience() -> None:
    files = {f"schedulers/{number}.yaml": spec(f"w-{number}") for number in range(1000)}
    async with compiler() as made:
        reading = await made.read(tree(files), Permissions())
    assert len(reading.workloads) == 1000


KILLERS = [
    # On a machine that gives it little CPU the clock on the wall is first.
    pytest.param("LOOP", "used too much CPU time|took too long", id="one that never ends"),
    pytest.param("MEMORY", "needed too much memory", id="one that needs too much"),
    pytest.param("MISTAKE", "KeyError in frail_nursery.py", id="one that meets a mistake of ours"),
]


@pytest.mark.long
@pytest.mark.parametrize(("word", "reason"), KILLERS)
async def test_a_file_that_kills_its_worker_is_a_finding_and_the_others_are_read(
    zygote: Counted, word: str, reason: str
) -> None:
    files = {f"schedulers/{name}.yaml": spec(name) for name in "abcd"}
    files["schedulers/bad.yaml"] = f"# {word}\n" + spec("bad")
    made = WorkerCompiler(zygote, OURS, Patience(tree_seconds=1.0, file_seconds=1.0))
    reading = await made.read(tree(files), Permissions())
    hired = zygote.hired
    again = await made.read(tree(files), Permissions())
    assert set(reading.workloads) == {scheduler(name) for name in "abcd"}
    assert reading.config is not None
    assert reading.unreadable == ("schedulers/bad.yaml",)
    (found,) = reading.findings
    assert (found.file, found.rule) == ("schedulers/bad.yaml", "unreadable")
    assert re.search(reason, found.message)
    assert again == reading
    # That it took too long proves nothing of a file: it may have been the machine.
    is_certain = "took too long" not in found.message
    assert not is_certain or zygote.hired <= hired + 1, "what is known to kill is not tried again"


async def test_two_files_that_kill_are_both_found(zygote: Counted) -> None:
    files = {f"schedulers/{name}.yaml": spec(name) for name in "abcd"}
    files["schedulers/b.yaml"] += "# MEMORY\n"
    files["schedulers/d.yaml"] += "# MISTAKE\n"
    reading = await reading_of(zygote, files)
    assert set(reading.workloads) == {scheduler("a"), scheduler("c")}
    assert reading.unreadable == ("schedulers/b.yaml", "schedulers/d.yaml")


async def test_a_config_that_kills_holds_the_whole_commit_and_nothing_untrue_is_said(
    zygote: Counted,
) -> None:
    reading = await reading_of(zygote, {"schedulers/a.yaml": spec("a")}, f"# MEMORY\n{CONFIG}")
    assert reading.config is None
    assert reading.unreadable == ("gamekeeper.yaml",)
    assert [found.rule for found in reading.findings] == ["unreadable"]


async def test_when_many_files_kill_the_rest_is_not_tried_and_not_taken_for_absent(
    zygote: Counted,
) -> None:
    files = {f"schedulers/{number:02}.yaml": f"# MEMORY {number}" for number in range(12)}
    files["schedulers/zz.yaml"] = spec("late")
    reading = await reading_of(zygote, files)
    assert len(reading.unreadable) == 13
    assert reading.workloads == {}
    (last,) = (found for found in reading.findings if found.file == "schedulers/zz.yaml")
    assert "was not tried" in last.message


async def test_files_that_kill_only_together_hold_everything(zygote: Counted) -> None:
    files = {f"schedulers/{name}.yaml": f"# TOGETHER\n{spec(name)}" for name in "ab"}
    reading = await reading_of(zygote, files)
    assert reading.config is None
    assert reading.workloads == {}
    assert set(reading.unreadable) == {"gamekeeper.yaml", *files}
    assert "memory" in reading.findings[0].message


@pytest.mark.long
async def test_where_files_take_too_long_together_the_dearest_of_them_are_not_read(
    zygote: Counted,
) -> None:
    specs = {f"schedulers/{name}.yaml": spec(name) for name in "ab"}
    files = {f"schedulers/{number}.yaml": "".join(_values(number)) for number in range(16)} | specs
    made = WorkerCompiler(zygote, OURS, Patience(tree_seconds=0.6, file_seconds=4.0))
    reading = await made.read(tree(files), Permissions())
    hired = zygote.hired
    again = await made.read(tree(files), Permissions())
    assert set(reading.workloads) == {scheduler("a"), scheduler("b")}
    assert reading.config is not None
    told = _told_dear(reading)
    assert 1 < len(told) <= 16
    assert told <= files.keys() - specs.keys()
    assert told <= set(reading.unreadable)
    assert again == reading
    assert zygote.hired == hired + 1, "what each takes is known"
    one = max(told)
    healed = await made.read(tree({**specs, one: files[one]}), Permissions())
    assert not _told_dear(healed), "without the others it is not too much"


def _told_dear(reading: Reading) -> set[str]:
    why = "all files together take more than the 0.98 s of CPU that are given"
    return {found.file for found in reading.findings if why in found.message}


def _values(number: int) -> Iterator[str]:
    yield f"# {number}\n"
    yield from (f"k{each}: x\n" for each in range(20_000))


@pytest.mark.long
async def test_a_file_that_hangs_is_tried_again_alone_and_again_next_time(zygote: Counted) -> None:
    files = {"schedulers/a.yaml": spec("a"), "schedulers/b.yaml": f"# SLEEP\n{spec('b')}"}
    made = WorkerCompiler(zygote, OURS, Patience(tree_seconds=0.3, file_seconds=0.3))
    for _ in range(2):
        reading = await made.read(tree(files), Permissions())
        assert set(reading.workloads) == {scheduler("a")}
        (found,) = reading.findings
        assert "took too long" in found.message
    healed = await made.read(tree({**files, "schedulers/b.yaml": spec("b")}), Permissions())
    assert set(healed.workloads) == {scheduler("a"), scheduler("b")}
