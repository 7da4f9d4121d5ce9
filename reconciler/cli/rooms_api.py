"""What the loop knows of rooms and the cluster does not, asked of its own API."""

import asyncio
import json
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reconciler.cli.failures import Failure
from reconciler.cli.options import add_own, own_of
from reconciler.model.refs import WorkloadKey
from reconciler.model.rooms import Health, Heard
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
LONGEST_REASON = 400
"""Characters of a refusal that are shown."""
_FIXES = {
    401: "Check --rooms-api-token-file: its token may be of another installation, or too old",
    403: "Ask for the right to read these rooms, or name one workload that the token is good for",
    404: "Check --rooms-api: it is the address that --rooms-listen of `gamekeeper run` names",
    503: "Ask again in some seconds: only the process that leads answers",
}
_NONE_SENT = (
    "No token was sent: name the file with one that may read these rooms (--rooms-api-token-file)"
)
_UNREACHED = (
    "Check --rooms-api (GAMEKEEPER_ROOMS_API), and that `gamekeeper run` listens there "
    "(--rooms-listen); without either this command tells what stands in the cluster"
)


@dataclass(frozen=True, slots=True)
class Told:
    """What the API says of one room. `heard` is None where it has said nothing yet.

    `spoke_at` is when it spoke last, whatever it said (Unix seconds), None where that is not told.
    `removal` is whether it may be deleted now and why, or why not; None where it is not to leave.
    """

    uid: str
    state: str
    reason: str
    protected: str
    heard: Heard | None
    spoke_at: float | None = None
    removal: tuple[bool, str] | None = None


def add_api(parser: ArgumentParser) -> None:
    """Add the flags of the API."""
    add_own(parser, URL, TOKEN_FILE)


def api_of(arguments: Namespace, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return its address, "" where none is named, and the file with the token. Raises Failure."""
    url = str(own_of(arguments, environment, URL)).rstrip("/")
    if url and not url.startswith(("http://", "https://")):
        raise Failure(
            f"--rooms-api {url} is no URL", fix=f"Write it with its scheme, as http://{url}"
        )
    return url, str(own_of(arguments, environment, TOKEN_FILE))


async def told_by(
    url: str, token_file: str, only: WorkloadKey | None = None
) -> dict[tuple[str, str], Told]:
    """Ask for the rooms of one workload, or of all, by namespace and name.

    Who may read one workload is refused where all are asked for. Raises Failure.
    """
    query = f"?workload={only.kind}/{only.namespace}/{only.name}" if only else ""
    answer = await _get(f"{url}/v1/rooms{query}", token_file)
    rooms = answer.get("rooms") if isinstance(answer, dict) else None
    if not isinstance(rooms, list):
        raise Failure(f"{url}/v1/rooms answers no list of rooms", "", "Check --rooms-api")
    now = time.time()
    return {(str(each["namespace"]), str(each["name"])): _told(each, now) for each in rooms}


async def _token_in(token_file: str) -> str:
    try:
        return (await asyncio.to_thread(Path(token_file).read_text, "utf-8")).strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise Failure(
            f"--rooms-api-token-file {token_file} cannot be read",
            str(why),
            "Name the file with the token that --rooms-api asks for; a sandbox's goes with it",
        ) from error


def _reason_in(text: str) -> str:
    """Return why the API refuses: what it says where it is ours, else how its answer begins."""
    try:
        answer = json.loads(text)
    except ValueError:
        answer = None
    said = answer.get("error") if isinstance(answer, dict) else None
    return (said if isinstance(said, str) else text.strip())[:LONGEST_REASON] or "it says no more"


async def _get(url: str, token_file: str) -> Any:
    import aiohttp

    from reconciler.adapters import unreached

    token = await _token_in(token_file) if token_file else ""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    fixes = _FIXES if token else {**_FIXES, 401: _NONE_SENT}
    timeout = aiohttp.ClientTimeout(total=ANSWER_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, headers=headers) as session,
            session.get(url, allow_redirects=False) as answer,
        ):
            if answer.status != 200:
                raise Failure(
                    f"{url} answers {answer.status}: {_reason_in(await answer.text())}",
                    fix=fixes.get(answer.status, "Check --rooms-api"),
                )
            return await answer.json(content_type=None)
    except (aiohttp.ClientError, TimeoutError) as error:
        raise Failure(f"{url} {unreached.why(error)}", "", _UNREACHED) from error
    except ValueError as error:
        raise Failure(f"{url} answers with what is no JSON", "", "Check --rooms-api") from error


def _told(room: Mapping[str, Any], now: float) -> Told:
    age, silence = room.get("reportAgeSeconds"), room.get("heardAgeSeconds")
    return Told(
        uid=str(room.get("uid", "")),
        state=str(room.get("state", "")),
        reason=str(room.get("reason", "")),
        protected=str(room.get("protected") or ""),
        heard=_heard(room, now - age) if isinstance(age, int | float) else None,
        spoke_at=now - silence if isinstance(silence, int | float) else None,
        removal=_removal(room.get("removal")),
    )


def _heard(room: Mapping[str, Any], at: float) -> Heard:
    health = {each.value: each for each in Health}.get(str(room.get("health")))
    matches, players = int(room.get("matches") or 0), room.get("players")
    return Heard(
        at=at,
        matches=matches,
        players=int(players or 0),
        tells=players is not None or matches > 0,
        health=health,
        silent=bool(room.get("silent")),
    )


def _removal(told: Any) -> tuple[bool, str] | None:
    return (told.get("may") is True, str(told.get("reason"))) if isinstance(told, dict) else None
