"""What the loop knows of rooms and the cluster does not, asked of its own API."""

import asyncio
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reconciler.cli.failures import Failure
from reconciler.cli.options import add_own, own_of
from reconciler.setting_rows import Row

URL = Row(
    "rooms_api",
    str,
    "",
    "",
    "address of the loop's API for rooms, which knows players and matches (none: not asked)",
)
TOKEN_FILE = Row("rooms_api_token_file", str, "", "", "file with the token that it asks for")
ANSWER_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Told:
    """What the API says of one room. `age_seconds` is the age of its last report."""

    uid: str
    state: str
    reason: str
    players: int | None = None
    matches: int | None = None
    age_seconds: float | None = None


def add_api(parser: ArgumentParser) -> None:
    """Add the flags of the API."""
    add_own(parser, URL, TOKEN_FILE)


def api_of(arguments: Namespace, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return its address, "" where none is named, and the file with the token."""
    url = str(own_of(arguments, environment, URL)).rstrip("/")
    return url, str(own_of(arguments, environment, TOKEN_FILE))


async def told_by(url: str, token_file: str) -> dict[tuple[str, str], Told]:
    """Ask for every room, by namespace and name. Raises Failure, OSError for the token's file."""
    answer = await _get(f"{url}/v1/rooms", token_file)
    rooms = answer.get("rooms") if isinstance(answer, dict) else None
    if not isinstance(rooms, list):
        raise Failure(f"{url}/v1/rooms answers no list of rooms", "", "Check --rooms-api")
    return {(str(each["namespace"]), str(each["name"])): _told(each) for each in rooms}


async def _get(url: str, token_file: str) -> Any:
    import aiohttp

    headers = {}
    if token_file:
        token = (await asyncio.to_thread(Path(token_file).read_text)).strip()
        headers["Authorization"] = f"Bearer {token}"
    timeout = aiohttp.ClientTimeout(total=ANSWER_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, headers=headers) as session,
            session.get(url, allow_redirects=False) as answer,
        ):
            if answer.status != 200:
                raise Failure(
                    f"{url} answers {answer.status}: {(await answer.text())[:200]}",
                    "",
                    "Check --rooms-api and --rooms-api-token-file",
                )
            return await answer.json(content_type=None)
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        raise Failure(
            f"{url} cannot be asked: {error or type(error).__name__}", "", "Check --rooms-api"
        ) from error


def _told(room: Mapping[str, Any]) -> Told:
    age = room.get("reportAgeSeconds")
    return Told(
        uid=str(room.get("uid", "")),
        state=str(room.get("state", "")),
        reason=str(room.get("reason", "")),
        players=room.get("players"),
        matches=room.get("matches"),
        age_seconds=float(age) if isinstance(age, int | float) else None,
    )
