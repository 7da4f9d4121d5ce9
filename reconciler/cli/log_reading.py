"""Git and the records side by side, as the commands read them that tell a number's past."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from reconciler.cli.failures import Failure
from reconciler.cli.room_names import names_of, of_workload
from reconciler.core import carried_counts
from reconciler.core.count_text import count_in
from reconciler.core.counts import untold
from reconciler.core.spec_files import REPLICAS_FILE, spec_files
from reconciler.kube.names import nearest
from reconciler.loop.count_history import CountLog
from reconciler.loop.read_head import Reader
from reconciler.loop.store import RecordStore
from reconciler.model.additional import ALLOWABLE
from reconciler.model.errors import PortError
from reconciler.model.history import CountHistory
from reconciler.model.readings import Reading
from reconciler.model.records import RepositoryRecord, StateRecord
from reconciler.model.refs import WorkloadKey
from reconciler.model.specs import Permissions
from reconciler.ports import Compiler, Repository, WritableRepository
from reconciler.settings import Settings
from reconciler.wiring.clusters import make_cluster
from reconciler.wiring.compilers import make_compiler
from reconciler.wiring.permits import permissions_of
from reconciler.wiring.repositories import make_checkout, make_mirror

NO_INSTANCE = "no instance is named (--instance)"
_NOTHING = Reading("", None, {}, {}, (), (), ())


@dataclass(frozen=True, slots=True)
class Recorded:
    """What is on record in the cluster; `problem` says why that is not known, "" where it is."""

    repository: RepositoryRecord = field(default_factory=RepositoryRecord)
    states: Mapping[WorkloadKey, StateRecord] = field(default_factory=dict)
    problem: str = ""

    @property
    def ours(self) -> frozenset[str] | None:
        """The ids of our commits, None where they are not known."""
        return None if self.problem else frozenset(self.repository.pushed)


async def read_recorded(settings: Settings) -> Recorded:
    """Read the records; whatever keeps them from being read is told and no failure."""
    if not settings.instance:
        return Recorded(problem=NO_INSTANCE)
    try:
        cluster = make_cluster(settings)
        try:
            store = RecordStore(cluster, settings.namespace, settings.instance)
            await store.load()
            return recorded_in(store, settings)
        finally:
            await cluster.close()
    except PortError as error:
        return Recorded(problem=f"the records cannot be read: {error}")


def recorded_in(store: RecordStore, settings: Settings) -> Recorded:
    """Return what was loaded. Where no head was taken in under that name, no ids are known.

    None of ours and none on record are not the same: else each of our commits is a person's.
    """
    if not store.repository.repository:
        where = f"in namespace {settings.namespace} of this cluster"
        return Recorded(problem=f'instance "{settings.instance}" has taken nothing in {where}')
    return Recorded(store.repository, store.states())


@dataclass(slots=True)
class GitSide:
    """A repository at one commit; `branch` is the tracked one.

    `writable` is the same repository where it is a mirror, which can push. `texts` are its specs,
    where one has a mistake.
    """

    repository: Repository
    writable: WritableRepository | None
    compiler: Compiler
    permissions: Permissions
    branch: str
    commit: str
    reading: Reading
    texts: Mapping[str, bytes] = field(default_factory=dict)

    async def look(self) -> None:
        """Go to the newest commits. Raises the errors of the repository and the compiler."""
        reader = Reader(self.repository, self.compiler, self.permissions, self.branch)
        head, self.reading = await reader.read(None)
        self.commit = head.commit
        self.texts = await self._texts() if self.reading.invalid else {}

    async def _texts(self) -> dict[str, bytes]:
        """Return the specs and values of the commit; every file where it has no Config to say."""
        tree, config = await self.repository.tree(self.commit), self.reading.config
        specs = spec_files(tree, config.paths if config else (".",), self.permissions.values)
        files = (*specs, *self.permissions.values)
        return {file: tree.entries[file].text or b"" for file in files if file in tree.entries}

    @property
    def counts_branch(self) -> str:
        """The branch of counts that lies over the tracked one, "" where there is none."""
        named = carried_counts.counts_branch(self.reading.config, self.branch)
        return named if self.reading.counts_commit else ""

    @property
    def unfetched(self) -> str:
        """The branch of counts that the Config names and that this checkout has not, else "".

        A mirror has fetched: there a branch that is not there is not there yet.
        """
        if self.writable is not None or self.reading.counts_commit:
            return ""
        return carried_counts.counts_branch(self.reading.config, self.branch)

    def check_counts(self, key: WorkloadKey) -> None:
        """Raise Failure where a mistake on the branch of counts keeps a workload's number back.

        Then what acted goes on, and no number of the tracked branch does.
        """
        file = f"{self.counts_branch}:{REPLICAS_FILE}"
        held = (each.message for each in self.reading.invalid.get(key, ()))
        if not self.counts_branch or untold(file) not in held:
            return
        made = (each for each in self.reading.errors if each.file == file)
        for first in sorted(made, key=lambda each: str(key) not in each.path)[:1]:
            place = f"{file}:{first.line}" if first.line else file
            raise Failure(
                f"there is nothing to undo until {place} is mended",
                f"What acted of {key} goes on, whatever else says a number: {first.message}",
                "Mend that first",
            )

    def place_of(self, key: WorkloadKey) -> tuple[str, str]:
        """Return the branch and the file that have a workload's number."""
        if key in self.reading.over:
            return self.counts_branch, REPLICAS_FILE
        source = self.reading.workloads[key].replicas_source
        return self.branch, source.file

    def tip_of(self, branch: str) -> str:
        """Return the commit that was read of a branch."""
        return self.reading.counts_commit if branch == self.counts_branch else self.commit

    def workload(self, word: str) -> WorkloadKey:
        """Return the workload that a word means. Raises Failure."""
        keys = [*self.reading.workloads, *self.reading.invalid]
        if any(word in names_of(key) for key in keys):
            return of_workload(word, keys)
        near = nearest(word.rpartition("/")[2], [key.name for key in keys])
        hint = f'Did you mean "{near}"?' if near else ""
        if self.reading.unreadable:
            hint = f"{self.reading.unreadable[0]} cannot be read: what stands there is not known"
        what = f'there is no workload "{word}" at commit {self.commit[:12]}'
        fix = "gamekeeper validate REV counts those of a commit; --path says where they are read"
        raise Failure(what, hint, fix)

    def files_of(self, key: WorkloadKey) -> tuple[str, ...]:
        """Return the files that may have a workload's number: that of counts, and its spec.

        Of one with mistakes these are several where its name stands in several.
        """
        workload = self.reading.workloads.get(key)
        if workload is None:
            blamed = {finding.file for finding in self.reading.invalid[key]}
            found = (file for file, text in self.texts.items() if count_in(file, text, key))
            return REPLICAS_FILE, *sorted({*found, *(blamed & self.texts.keys())})
        is_valued = workload.replicas_source.file in self.permissions.values
        source = workload.replicas_source if is_valued else workload.source
        return REPLICAS_FILE, source.file

    async def histories_of(
        self, key: WorkloadKey, recorded: Recorded, start: str, limit: int
    ) -> list[CountHistory]:
        """Return the past of a workload's number up to a commit, in each file that may be its spec.

        Raises the errors of the repository.
        """
        eldest = recorded.repository.eldest
        counts, *specs = self.files_of(key)
        several: list[tuple[str, ...]] = [(counts, spec) for spec in specs]
        over = bool(self.counts_branch) and start == self.reading.counts_commit
        return [
            await CountLog(self.repository, key, files, recorded.ours, eldest, over).read(
                start, limit
            )
            for files in several or [(counts,)]
        ]


@asynccontextmanager
async def opened_git(settings: Settings) -> AsyncIterator[GitSide]:
    """Read the newest commit of --repo's branch, else the one checked out here; close in the end.

    Raises Misconfigured, Unavailable, Denied.
    """
    compiler = make_compiler()
    try:
        mirror = make_mirror(settings) if settings.repo else None
        repository = mirror or make_checkout(".", settings)
        try:
            # Here counts are read and nothing is made: what is not allowed hides none.
            permissions = replace(
                permissions_of(settings),
                kinds=tuple(ALLOWABLE),
                copy_from=None,
                pod_security="privileged",
            )
            branch = settings.branch
            side = GitSide(repository, mirror, compiler, permissions, branch, "", _NOTHING)
            await side.look()
            yield side
        finally:
            await repository.close()
    finally:
        await compiler.close()


def tracked(settings: Settings, recorded: Recorded, *, keep_branch: bool) -> Settings:
    """Return settings that name the repository on record, and branch and path unless written.

    Raises Failure where none is known.
    """
    if recorded.repository.repository:
        known = recorded.repository
        branch = settings.branch if keep_branch else known.branch or settings.branch
        path = settings.path or known.path
        return replace(settings, repo=known.repository, branch=branch, path=path)
    raise Failure(
        "which repository is tracked is not known",
        recorded.problem,
        "Name it with --repo and --branch",
    )
