"""What the CLI says where the API for rooms cannot be asked: what, where, why, what next."""

from argparse import Namespace
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from reconciler.cli import rooms_api
from reconciler.cli.failures import Failure


def test_an_address_without_a_scheme_is_told_of_before_anything_is_asked() -> None:
    named = {"GAMEKEEPER_ROOMS_API": "127.0.0.1:8090/"}
    with pytest.raises(Failure, match=r"^--rooms-api 127\.0\.0\.1:8090 is no URL\. .*http://127"):
        rooms_api.api_of(Namespace(rooms_api=None, rooms_api_token_file=None), named)


async def test_a_token_file_that_is_not_there_is_named_with_its_flag(tmp_path: Path) -> None:
    with pytest.raises(Failure, match=r"^--rooms-api-token-file .*none cannot be read\. No such"):
        await rooms_api.told_by("http://127.0.0.1:1", str(tmp_path / "none"))


@pytest.mark.parametrize(
    ("status", "token", "body", "told"),
    [
        pytest.param(
            401,
            "a-token",
            '{"status": 401, "error": "nobody is known by this", "fix": "for a room"}',
            r"answers 401: nobody is known by this\. Check --rooms-api-token-file",
            id="ours: its error, and what a person can do",
        ),
        *(
            pytest.param(
                401,
                token,
                "no",
                r"answers 401: no\. No token was sent: name the file .*--rooms-api-token-file",
                id=what,
            )
            for token, what in ((None, "no file is named"), ("\n", "its file is empty"))
        ),
        pytest.param(
            404, "t", "<html>", r"answers 404: <html>\. Check --rooms-api:", id="another's"
        ),
        pytest.param(
            500, "t", "", r"answers 500: it says no more\. Check --rooms-api", id="nothing"
        ),
    ],
)
async def test_a_refusal_is_told_whole_and_for_people(
    status: int, token: str | None, body: str, told: str, tmp_path: Path
) -> None:
    sent = []

    async def refuse(request: web.Request) -> web.Response:
        sent.append(request.headers.get("Authorization"))
        return web.Response(status=status, text=body)

    app = web.Application()
    app.router.add_get("/v1/rooms", refuse)
    file = "" if token is None else str(tmp_path / "token")
    (tmp_path / "token").write_text(token or "")
    async with TestServer(app) as server:
        with pytest.raises(Failure, match=told):
            await rooms_api.told_by(str(server.make_url("")).rstrip("/"), file)
    shown = (token or "").strip()
    assert sent == [f"Bearer {shown}" if shown else None]


async def test_a_port_where_nobody_listens_is_told_of_without_any_library_s_words() -> None:
    async with TestServer(web.Application()) as server:
        gone = str(server.make_url("")).rstrip("/")
    with pytest.raises(Failure) as told:
        await rooms_api.told_by(gone, "")
    assert str(told.value).startswith(
        f"{gone}/v1/rooms cannot be connected to: Connection refused. "
        "Check --rooms-api (GAMEKEEPER_ROOMS_API), and that"
    )


async def test_an_answer_that_is_no_json_is_told_of_as_that() -> None:
    async def page(_: web.Request) -> web.Response:
        return web.Response(text="<html>")

    app = web.Application()
    app.router.add_get("/v1/rooms", page)
    async with TestServer(app) as server:
        with pytest.raises(Failure, match=r"/v1/rooms answers with what is no JSON\. Check"):
            await rooms_api.told_by(str(server.make_url("")).rstrip("/"), "")
