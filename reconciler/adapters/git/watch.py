"""Wake when the references of a local repository move; the work tree is not looked at."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from urllib.parse import unquote, urlsplit

from watchfiles import awatch

_LOOK_AGAIN_SECONDS = 2.0
_STEP_MILLISECONDS = 20


def local_path(url: str) -> str | None:
    """Return the directory of a file:// URL or absolute path, None for anything remote."""
    if url.startswith("/"):
        return url
    return unquote(urlsplit(url).path) if url.startswith("file://") else None


def git_directory(path: str) -> str | None:
    """Return where the references of the repository at `path` lie; None when there is none.

    A linked work tree's are those of the repository that it belongs to.
    """
    inner = os.path.join(path, ".git")
    directory = inner if os.path.lexists(inner) else path
    with contextlib.suppress(OSError):
        if os.path.isfile(directory):
            with open(directory, encoding="utf-8") as stream:
                named = stream.read().removeprefix("gitdir:").strip()
            directory = os.path.normpath(os.path.join(path, named))
        common = os.path.join(directory, "commondir")
        if os.path.isfile(common):
            with open(common, encoding="utf-8") as stream:
                directory = os.path.normpath(os.path.join(directory, stream.read().strip()))
        if os.path.isdir(os.path.join(directory, "refs")):
            return directory
    return None


async def watch_local(path: str) -> AsyncIterator[None]:
    """Yield once whenever a reference of the repository at `path` may have moved, for ever.

    A repository that is not there is waited for; one that is replaced is found again.
    """
    while True:
        directory = git_directory(path)
        if directory is None:
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
            if git_directory(path) is not None:
                yield
            continue
        moved = asyncio.Event()
        followers = [
            asyncio.create_task(_follow(directory, False, moved)),
            asyncio.create_task(_follow(os.path.join(directory, "refs"), True, moved)),
        ]
        born = _identity(directory)
        try:
            while _identity(directory) == born and not any(task.done() for task in followers):
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_LOOK_AGAIN_SECONDS):
                        await moved.wait()
                if moved.is_set():
                    moved.clear()
                    yield
        finally:
            await _ended(followers)
        yield


async def _follow(directory: str, recursive: bool, moved: asyncio.Event) -> None:
    stop = asyncio.Event()
    try:
        async for changes in awatch(
            directory, recursive=recursive, step=_STEP_MILLISECONDS, watch_filter=None,
            stop_event=stop,
        ):  # fmt: skip
            if any(_is_reference(changed) for _, changed in changes):
                moved.set()
    except (OSError, RuntimeError):
        # The directory is gone; the caller looks for it again.
        return
    finally:
        stop.set()


def _is_reference(path: str) -> bool:
    name = os.path.basename(path)
    return not name.endswith(".lock") and (f"{os.sep}refs" in path or name in _TOP)


_TOP = frozenset({"HEAD", "packed-refs"})


def _identity(directory: str) -> tuple[int, int] | None:
    with contextlib.suppress(OSError):
        found = os.stat(os.path.join(directory, "refs"))
        return found.st_dev, found.st_ino
    return None


async def _ended(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
