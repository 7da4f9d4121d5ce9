"""32 policies that change their minds, over real git, beside a person who edits the same files."""

import asyncio
import random
from pathlib import Path

from reconciler.adapters.git.mirror import Mirror
from reconciler.adapters.git.source import Source
from reconciler.ports import WritableRepository
from tests.e2e.hosted import NAME, PASSWORD, USER, Person, commits_of, texts_of
from tests.gitservers.http import HttpGitServer
from tests.gitservers.repositories import BareRepository
from tests.loop.safety import Bounds
from tests.loop.scaling.campaign import Campaign
from tests.loop.scaling.counts import count_of
from tests.loop.scaling.house import stage
from tests.loop.world import CONFIG, World

NAMES = tuple(f"arena-{number:02}" for number in range(32))
PACE_SECONDS = 2.0


def play(folder: Path, changes: int) -> str:
    """Let each policy change its mind so often; return the figures in a sentence.

    Raises AssertionError where a decision or a line is lost, a byte changed that is nobody's
    number, or a push was forced.
    """
    random.seed(1)
    campaign = Campaign(NAMES, changes, PACE_SECONDS)
    bare = BareRepository.create(folder / "git", NAME)
    bare.git("config", "core.logAllRefUpdates", "always")
    bare.commit({"gamekeeper.yaml": CONFIG, **campaign.files()}, "The fleet")
    (folder / "token").write_text(f"{PASSWORD}\n")
    with HttpGitServer(folder / "git", user=USER, password=PASSWORD) as host:
        figures = asyncio.run(_play(campaign, bare, host, folder))
    assert bare.forced_updates() == 0
    return figures


async def _play(campaign: Campaign, bare: BareRepository, host: HttpGitServer, folder: Path) -> str:
    source = Source(
        host.url(NAME),
        username=USER,
        token_file=str(folder / "token"),
        certificate_authority_file=str(host.authority_file),
    )
    person = Person(folder, host.url(NAME, with_credentials=True), host.environment())
    mirror = Mirror(source, str(folder / "cache"))

    def opened(_: World, name: str) -> WritableRepository:
        return mirror

    async def edit(path: str, line: str) -> None:
        await asyncio.to_thread(person.edit, path, line)

    def is_in_git() -> bool:
        counts = {path: count_of(text) for path, text in texts_of(bare).items()}
        return counts == campaign.last()

    habits, bounds = campaign.habits(1.0, opened), dict.fromkeys(NAMES, Bounds(100))
    try:
        async with stage(campaign.files(), bounds, habits) as there:
            there.start("one")
            await campaign.play(there, edit)
            await there.until("all in Git", is_in_git, 60.0)
            return campaign.judge(there, commits_of(bare, "Gamekeeper"), texts_of(bare))
    finally:
        await mirror.close()
