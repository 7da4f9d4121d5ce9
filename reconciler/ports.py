"""The seams: what the loop asks of the world, as Protocols. Adapters keep them, one each.

Every method may raise the errors of `model.errors` and nothing else; none reads a clock.
"""

from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from reconciler.model.checks import Check, unchecked
from reconciler.model.live import LiveNode, LivePod, LiveWorkload, Nodes
from reconciler.model.pushes import Change, Lineage, Logged, Pushed
from reconciler.model.readings import Reading, Rendered
from reconciler.model.refs import Followed, Json, ObjectRef, WorkloadKey
from reconciler.model.rooms import Ears
from reconciler.model.signatures import SigningRules, Span, Verification
from reconciler.model.specs import Permissions, Workload
from reconciler.model.trailers import History
from reconciler.model.trees import Head, Merged, Relation, Tree


class Repository(Protocol):
    """A Git repository, read as blobs from a bare mirror; one tracked branch."""

    async def fetch(self) -> Head:
        """Bring the mirror up to date and return the tracked branch's head.

        Raises Unavailable (host down, slow, disk full), Denied (credentials), Misconfigured
        (no such repository or branch, URL not allowed).
        """

    async def tree(self, revision: str) -> Tree:
        """Read everything at a commit or any rev. Raises Misconfigured where there is none."""

    async def relation(self, old: str, new: str) -> Relation:
        """Say how `new` stands to `old`."""

    async def merge(self, base: str, head: str) -> Merged:
        """Return the tree that merging `head` into `base` makes (git merge-tree)."""

    async def history(
        self, base: str, head: str, signers: str, now: float, ours: Collection[str] = ()
    ) -> History:
        """Read the commits of `base..head` with their approving trailers and who signed them.

        `signers` is the path of an OpenSSH allowed_signers file, as it holds at `now` (Unix
        seconds). What cannot be told is said in the answer's `problem`; at most 100 commits beside
        `ours`, which are listed and not checked.
        """

    async def verify(self, span: Span, rules: SigningRules, now: float) -> Verification:
        """Say which commits no key signed that holds `now`. Raises Misconfigured without keys."""

    async def log(
        self, revision: str, paths: Sequence[str] = (), limit: int = 100, before: str = ""
    ) -> Sequence[Logged]:
        """Read the newest `limit` commits of `revision` (all that were merged into it, too).

        `paths` are files or directories, taken literally; without any, every commit counts.
        `before` is the last commit of the page before. Raises Misconfigured for no such revision.
        """

    async def lineage(self, base: str, head: str, limit: int = 1000) -> Lineage:
        """Name the commits of `base..head`, at most the newest `limit`.

        Our own commits are told by these ids. Raises Misconfigured when either is not there.
        """

    async def blob(self, revision: str, path: str) -> bytes | None:
        """Read one file whatever its name; None where the revision has no file there.

        Raises Misconfigured when there is no such revision, or the file is larger than 1 MiB.
        """

    async def tip(self, branch: str) -> str:
        """Fetch another branch, and return its commit, which can be read; "" when there is none."""

    async def close(self) -> None:
        """End the child process."""


class WritableRepository(Repository, Protocol):
    """A Repository that takes commits of ours to its host.

    What is pushed never moves the mirror's idea of a branch: the next fetch does.
    """

    async def holds(self, commit: str) -> bool:
        """Whether a commit is here whole; no host is asked."""

    async def write(self, change: Change) -> str:
        """Make the commit in the mirror, tell no host of it, and return its id.

        Equal changes make equal commits (save with GPG, which signs the time); where nothing would
        change it is `change.base`. Raises Misconfigured (a path that is no regular file, a signing
        key), Conflict (`base` is not in the mirror: fetch, decide again), Unavailable (disk full).
        """

    async def push(self, change: Change, commit: str = "") -> Pushed:
        """Write the change, unless `commit` is what `write` made of it, and push it.

        A branch moves from `base` (from `replaces`, a branch of ours) or not at all; it is never
        forced. When the answer was lost, the branch is looked at; when that cannot be done
        either, Unavailable is raised and `commit` may stand there: look for its id. Raises Conflict
        (the branch moved: fetch, decide again), Denied (in the host's words), Misconfigured.
        """


class Compiler(Protocol):
    """Strangers' text to values, in workers with CPU, memory and output limits."""

    async def read(self, tree: Tree, permissions: Permissions) -> Reading:
        """Validate a whole tree; never raises for what the user wrote."""

    async def render(
        self, workloads: Sequence[Workload], instance: str
    ) -> Mapping[WorkloadKey, Rendered]:
        """Render workloads through `templates/`; cached by content of spec and templates.

        Raises Misconfigured naming template and workload when a template is broken.
        """

    async def close(self) -> None:
        """End the workers."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A complete list (all pages) and the resourceVersion to watch from."""

    items: Sequence[Json]
    resource_version: str


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One line of a watch. A BOOKMARK's object carries only a resourceVersion."""

    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]
    object: Json


class Cluster(Protocol):
    """One Kubernetes API server, spoken to in its JSON, with our rate limit and deadlines."""

    @property
    def name(self) -> str:
        """The cluster's name in refs, plans and metrics (`local` when there is one)."""

    async def get(self, ref: ObjectRef) -> Json | None:
        """Read one object; None when it is not there."""

    async def list(
        self, api_version: str, kind: str, namespace: str = "", labels: str = "", fields: str = ""
    ) -> Listing:
        """List a kind (every namespace when `namespace` is empty), page by page."""

    async def list_metadata(
        self, api_version: str, kind: str, namespace: str, labels: str = ""
    ) -> Listing:
        """List a kind of a namespace, of each object only its metadata: no Secret comes here."""

    def pages(self, followed: Followed) -> AsyncIterator[Listing]:
        """List what is followed, fifty at a time, so that nobody holds them all.

        Every page carries the resourceVersion of the whole list. Raises Expired: begin again.
        """

    async def serves(self, api_version: str, kind: str) -> bool:
        """Whether the server has this kind at all; what it does not have, it does not hold."""

    def watch(self, followed: Followed, resource_version: str) -> AsyncIterator[WatchEvent]:
        """Go on from `resource_version` of a list of it.

        Begins with a BOOKMARK of that version once the server has taken the request.
        Ends quietly when the server closes the stream (watch again from the last version seen);
        raises Expired on 410, Unavailable when nothing, not even a bookmark, came for 75 s.
        """

    async def create(self, body: Json, *, dry_run: bool = False) -> Json:
        """POST one object and return what the server made of it. Raises AlreadyExists."""

    async def replace(self, body: Json) -> Json:
        """PUT one object: the compare-and-swap of records. `metadata.resourceVersion` is required.

        Raises Conflict when it is not the newest, or the object is gone.
        """

    async def apply(self, body: Json, *, dry_run: bool = False, force: bool = False) -> Json:
        """Server-side apply as our field manager. Raises Conflict naming the other managers."""

    async def merge_patch(self, ref: ObjectRef, patch: Json) -> Json:
        """JSON merge patch; with `metadata.uid`/`resourceVersion` in it, a precondition."""

    async def json_patch(self, ref: ObjectRef, operations: Sequence[Json]) -> Json | None:
        """JSON patch (RFC 6902); None when the object is not there.

        Raises Conflict where a `test` among the operations does not hold (the server's 422).
        """

    async def raw_get(self, path: str) -> Json | None:
        """Read a page of the server that is no object's (`/openid/v1/jwks`); None on a 404."""

    def logs(
        self, ref: ObjectRef, container: str = "", *, follow: bool = False, tail: int | None = None
    ) -> AsyncIterator[bytes]:
        """Read the log of a pod's container, chunk by chunk as it comes."""

    async def delete(
        self, ref: ObjectRef, uid: str, resource_version: str, check: Check = unchecked
    ) -> bool:
        """Delete exactly this object in exactly this version; False when it was gone already.

        Raises Conflict when it is another one or newer. `check` is asked last, and may raise.
        """

    async def close(self) -> None:
        """Close the connections."""


class LiveView(Protocol):
    """What is there, kept up to date by watches: immutable snapshots that are cheap to take."""

    @property
    def complete(self) -> bool:
        """Whether every kind was read completely and is still followed: else nothing is deleted."""

    @property
    def unserved(self) -> tuple[str, ...]:
        """The needed kinds that the server does not have."""

    @property
    def rooms_complete(self) -> bool:
        """Whether pods were read completely and are still followed: else no room is made."""

    @property
    def nodes(self) -> Nodes:
        """The nodes; the same value until one of them changes."""

    @property
    def addresses(self) -> Mapping[str, str]:
        """The public addresses of the nodes that have one; the same value until one changes."""

    @property
    def version(self) -> int:
        """The newest resourceVersion of a pod that was seen, 0 before any."""

    def workloads(self) -> Collection[WorkloadKey]:
        """Every workload of which there is something."""

    def of(self, key: WorkloadKey) -> LiveWorkload:
        """What there is of one workload; the same value until something of it changes."""

    def port_use(self) -> Counter[int]:
        """How many pods of the cluster, anybody's, ask for each host port number."""

    def ports_held(self) -> Mapping[str, Counter[int]]:
        """The same by the pods' nodes, "" for pods without one; not to be changed."""

    def expect_created(self, pod: Json) -> None:
        """Count a room as there, as the server answered it, until the watch shows it (3 min)."""

    def expect_deleted(self, uid: str) -> None:
        """Count a pod as terminating until the watch shows it, at most 3 min."""

    def take_in(self, pod: Json) -> None:
        """Take in a pod as the server answered it to a patch, unless a newer version is known."""

    def elapsed(self) -> float:
        """The time of the clock by which pods are `seen`: seconds, and it never jumps."""

    def room(self, namespace: str, name: str) -> tuple[WorkloadKey, LivePod] | None:
        """Find a room by its name, with its workload."""

    def is_astray(self, namespace: str, name: str) -> bool:
        """Whether there is a pod of this name that was a room, and lost our labels: it runs on."""

    def node(self, name: str) -> LiveNode | None:
        """Find a node by its name."""


class Reports(Protocol):
    """What rooms say of themselves: changes only, gathered elsewhere (DESIGN §4)."""

    def of(self, key: WorkloadKey) -> Ears:
        """What is heard of one workload; the same value until something that counts changes."""

    def of_room(self, key: WorkloadKey, uid: str) -> Ears:
        """What is heard of one room now, told without a look at the others."""


class Clock(Protocol):
    """Time for services; the loop and core get `now` as an argument."""

    def now(self) -> float:
        """Unix seconds."""

    async def sleep(self, seconds: float) -> None:
        """Wait, in virtual time where the world is simulated."""
