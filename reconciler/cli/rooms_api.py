"""What the loop knows of rooms and the cluster does not, asked of its own API."""

import asyncio
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from reconciler.cli.failures import Failure
from reconciler.cli.options import add_own, own_of
from reconciler.model.rooms import Health, Heard, Mark
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
    """What the API says of one room. `heard` is None where it has said nothing yet."""

    uid: str
    state: str
    reason: str
    protected: str
    heard: Heard | None


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
    now = time.time()
    return {(str(each["namespace"]), str(each["name"])): _told(each, now) for each in rooms}


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


def _told(room: Mapping[str, Any], now: float) -> Told:
    age = room.get("reportAgeSeconds")
    return Told(
        uid=str(room.get("uid", "")),
        state=str(room.get("state", "")),
        reason=str(room.get("reason", "")),
        protected=str(room.get("protected") or ""),
        heard=_heard(room, now - age) if isinstance(age, int | float) else None,
    )


def _heard(room: Mapping[str, Any], at: float) -> Heard:
    health = {each.value: each for each in Health}.get(str(room.get("health")))
    return Heard(
        at=at,
        matches=int(room.get("matches") or 0),
        players=int(room.get("players") or 0),
        health=health,
        silent=bool(room.get("silent")),
        # It confirmed that it drains where it was heard since.
        confirmed=room.get("mark") == Mark.DRAINING and at >= _unix_seconds(room["leavingSince"]),
    )


def _unix_seconds(text: str | None) -> float:
    return datetime.fromisoformat(text).timestamp() if text else 0.0
