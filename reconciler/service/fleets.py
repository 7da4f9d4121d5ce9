"""Fleets that people make and remove over HTTP: each by one commit, as everything is.

Nothing is made beside Git: what stands in the commit is judged as any other, with its Findings
before it is pushed, and with budgets and approvals after. A room with players stays to its end.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from reconciler.core import collection_specs
from reconciler.core.carried_counts import counts_branch
from reconciler.core.collection_specs import NoCollection
from reconciler.core.compile import workload_key
from reconciler.core.yaml_strict import parse_file
from reconciler.loop.commit_text import powerless
from reconciler.loop.head_lane import HeadLane
from reconciler.loop.landing import Terms
from reconciler.model.errors import Conflict, PortError, Unavailable
from reconciler.model.printable import escaped
from reconciler.model.pushes import Change
from reconciler.model.readings import Reading
from reconciler.model.refs import Json, WorkloadKey
from reconciler.model.trees import Entry, EntryKind, Tree
from reconciler.ports import Clock, WritableRepository
from reconciler.room_ports import Unmade
from reconciler.service.retries import Retries

FLEET = "Fleet"
RACES = 6
"""So many lost races are one too many: whoever waits for an answer is told."""
Files = Mapping[str, bytes | None]


class FleetCommits:
    """Commits to one branch. `wake` has the head looked at; `terms` are None where nothing is
    committed."""

    def __init__(
        self,
        lane: HeadLane,
        repository: WritableRepository,
        clock: Clock,
        terms: Callable[[], Terms | None],
        wake: Callable[[], None],
    ) -> None:
        self._lane = lane
        self._repository = repository
        self._clock = clock
        self._terms = terms
        self._wake = wake
        self._one = asyncio.Lock()

    def wanted(self, collection: Json) -> WorkloadKey:
        """Return which Fleet a collection asks for. Raises Unmade (400)."""
        document = _fleet_of(collection)
        name, place = document["metadata"]["name"], document["spec"].get("namespace")
        return workload_key(FLEET, name, place)

    def known(self, name: str) -> WorkloadKey:
        """Return which Fleet has a name. Raises Unmade (409) where several have."""
        reading = self._lane.reading
        found = _key_of(reading, name) if reading is not None else None
        return found or WorkloadKey(FLEET, name, name)

    async def make(self, collection: Json, by: str) -> str:
        """Commit the Fleet that a collection describes; return the commit. Raises Unmade."""
        document = _fleet_of(collection)
        name = str(document["metadata"]["name"])

        async def files(reading: Reading, tree: Tree) -> Files:
            return await self._made(reading, tree, document)

        return await self._commit(f"Make Fleet {name}", by, files)

    async def remove(self, fleet: WorkloadKey, by: str) -> str:
        """Commit that a Fleet leaves Git, and no other of its name; return the commit.

        Raises Unmade.
        """

        async def files(reading: Reading, tree: Tree) -> Files:
            return await asyncio.to_thread(_removed, reading, tree, fleet)

        return await self._commit(f"Remove Fleet {escaped(fleet.name)}", by, files)

    async def _commit(
        self, subject: str, by: str, files: Callable[[Reading, Tree], Awaitable[Files]]
    ) -> str:
        async with self._one:
            races = Retries(0.05, 2.0)
            for _ in range(RACES):
                try:
                    return await self._try(subject, by, files)
                except Conflict:
                    # Whoever came first is read, and what is asked for is judged beside it.
                    self._wake()
                    await self._clock.sleep(races.failed())
                except Unavailable as error:
                    raise Unmade(503, str(error)) from error
                except PortError as error:
                    raise Unmade(409, str(error)) from error
        raise Unmade(503, "others push to the branch all the time: ask again")

    async def _try(
        self, subject: str, by: str, files: Callable[[Reading, Tree], Awaitable[Files]]
    ) -> str:
        lane, terms = self._lane, self._terms()
        if lane.home.store.repository_problem:
            raise Unmade(503, f"{lane.home.store.repository_problem}: no commit is judged by it")
        head = await self._repository.fetch()
        reading = lane.reading
        if reading is None or reading.commit != head.commit:
            raise Conflict("the newest commit is not read yet")
        if terms is None:
            raise Unmade(409, "writeBack.mode is off in gamekeeper.yaml: nothing is committed")
        if lane.rules is not None and terms.signing is None:
            raise Unmade(
                409,
                "commits must be signed here (--verify-commits), and this process signs none "
                "(--commit-signing): say it by a signed commit of your own",
            )
        if lane.permissions.values:
            raise Unmade(
                409,
                "the specs here are those of several environments (--values): say it by a commit "
                "of your own",
            )
        _check_read(reading)
        _check_branch(reading, lane.branch)
        tree = await self._repository.tree(head.commit)
        instance = escaped(lane.home.instance)
        whom = powerless(escaped(by))
        message = f"{subject}\n\nRequested-by: {whom}\nGamekeeper-Instance: {instance}\n"
        change = Change(
            head.commit,
            lane.branch,
            await files(reading, tree),
            message,
            terms.author,
            int(self._clock.now()),
            terms.signing,
        )
        pushed = await self._repository.push(change)
        self._wake()
        return pushed.commit

    async def _made(self, reading: Reading, tree: Tree, document: Json) -> Files:
        name = str(document["metadata"]["name"])
        there = _key_of(reading, name)
        if there is not None:
            raise Unmade(
                409, f"{there} stands in Git already, at {reading.workloads[there].source}"
            )
        _check_sound(reading, name)
        file = _file_of(reading, name)
        if file in tree.entries:
            raise Unmade(409, f"{file} is another document's file: choose another name")
        # Beside the event loop: writing a large pod takes some hundredths of a second.
        text = (await asyncio.to_thread(collection_specs.text_of, document)).encode()
        blob = hashlib.sha256(text).hexdigest()
        entry = Entry(EntryKind.FILE, blob, len(text), text)
        wished = replace(tree, commit="", entries={**tree.entries, file: entry})
        read = await self._lane.compiler.read(wished, self._lane.permissions)
        if _key_of(read, name) is None:
            wrong = [each for each in read.findings if each.file == file]
            said = "; ".join(f"{each.path}: {each.message}" for each in wrong[:5])
            raise Unmade(400, f"this would be no valid Fleet: {said or 'it cannot be read'}")
        return {file: text}


def _fleet_of(collection: Json) -> Json:
    try:
        return collection_specs.fleet_of(collection)
    except NoCollection as error:
        raise Unmade(400, str(error)) from error


def _removed(reading: Reading, tree: Tree, asked: WorkloadKey) -> Files:
    key = _key_of(reading, asked.name)
    if key is None:
        _check_sound(reading, asked.name)
        raise Unmade(404, "there is no Fleet of this name in Git")
    if key != asked:
        # Who may remove one may not remove the other for that.
        raise Unmade(409, "since it was asked for, another Fleet has this name: ask again")
    file = reading.workloads[key].source.file
    data = tree.entries[file].text or b""
    # An empty one is no document: a file may end in `---`.
    said = [
        each for each in parse_file(file, data).documents if each.value is not None or each.findings
    ]
    if len(said) != 1:
        raise Unmade(409, f"{file} holds other documents too: take {key} out of it by a commit")
    return {file: None}


def _key_of(reading: Reading, name: str) -> WorkloadKey | None:
    """Return the Fleet of a name. Raises Unmade (409) where several namespaces have one."""
    found = [key for key in reading.workloads if (key.kind, key.name) == (FLEET, name)]
    if len(found) > 1:
        several = ", ".join(str(key) for key in sorted(found))
        raise Unmade(409, f"several have this name: {several}. Say it by a commit")
    return found[0] if found else None


def _check_branch(reading: Reading, tracked: str) -> None:
    """Raises Unmade (409) where all of our commits have a branch of their own (ADR 17)."""
    branch = counts_branch(reading.config, tracked)
    if branch:
        raise Unmade(
            409,
            f"writeBack.branch in gamekeeper.yaml keeps our commits on {branch}, and Fleets stand "
            f"on {tracked}: say it by a commit of your own",
        )


def _check_read(reading: Reading) -> None:
    """Raises Unmade (409) where the whole head is held: nothing of ours is put upon it."""
    if reading.vouched.problem:
        raise Unmade(409, reading.vouched.problem)
    if reading.config is None:
        raise Unmade(409, "gamekeeper.yaml is missing or has an error: mend it first")


def _check_sound(reading: Reading, name: str) -> None:
    """Raises Unmade (409) where a Fleet may stand in Git, and what it says cannot be told."""
    for key, findings in sorted(reading.invalid.items()):
        if (key.kind, key.name) == (FLEET, name):
            first = findings[0]
            where = f"{first.file}:{first.line}"
            raise Unmade(
                409, f"{key} has a mistake in Git, {where}: {first.message}. Mend it there"
            )


def _file_of(reading: Reading, name: str) -> str:
    """Return the file for a new Fleet: beside others, else in the first directory that is read."""
    files = (
        reading.workloads[key].source.file for key in sorted(reading.workloads) if key.kind == FLEET
    )
    folder = next((file.rpartition("/")[0] for file in files if "/" in file), "")
    if not folder and reading.config is not None:
        folder = reading.config.paths[0].rstrip("/")
    return f"{name}.yaml" if folder in ("", ".") else f"{folder}/{name}.yaml"
