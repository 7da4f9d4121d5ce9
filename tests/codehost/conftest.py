"""A Gitea for the tests of a file, and mirrors of its repositories."""

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from reconciler.adapters.git.mirror import Mirror
from reconciler.adapters.git.source import Source
from tests.codehost.gitea import Gitea, gitea_server

Opening = Callable[[str, str], contextlib.AbstractAsyncContextManager[Mirror]]


@pytest.fixture(scope="module")
def gitea() -> Iterator[Gitea]:
    with gitea_server() as server:
        server.make_user("bot")
        yield server


@pytest.fixture
def opening(gitea: Gitea, tmp_path: Path) -> Opening:
    """Open mirrors of a repository with a token, each of its own."""

    @contextlib.asynccontextmanager
    async def opened(repository: str, token: str) -> AsyncIterator[Mirror]:
        path = tmp_path / f"token-{token[:8]}"
        path.write_text(token)
        source = Source(gitea.url(repository), username="bot", token_file=str(path))
        made = Mirror(source, str(tmp_path / "cache"))
        try:
            yield made
        finally:
            await made.close()

    return opened
