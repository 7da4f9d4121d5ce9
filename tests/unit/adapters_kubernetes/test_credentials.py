"""How long a proof is used, and when it is fetched again."""

import asyncio
from pathlib import Path

import pytest

from reconciler.adapters.kubernetes.credentials import (
    FAILURE_SECONDS,
    TOKEN_FILE_SECONDS,
    Credentials,
    Proof,
    from_token_file,
)
from reconciler.model.errors import Denied, Misconfigured, Unavailable


class Login:
    """A source that counts, and fails while it is told to."""

    def __init__(self) -> None:
        self.asked = 0
        self.now = 1000.0
        self.fails = False
        self.answer: Proof | None = None

    async def __call__(self) -> Proof:
        self.asked += 1
        await asyncio.sleep(0)
        if self.fails:
            raise Unavailable(f"no. {self.asked}")
        return self.answer or Proof({"Authorization": f"Bearer {self.asked}"}, "", 60.0)


def credentials_of(login: Login) -> Credentials:
    return Credentials(login, lambda: login.now)


async def test_a_proof_is_used_until_it_runs_out() -> None:
    login = Login()
    credentials = credentials_of(login)
    first = await credentials.proof()
    login.now += 59.0
    assert await credentials.proof() is first
    login.now += 1.0
    assert (await credentials.proof()).headers == {"Authorization": "Bearer 2"}


async def test_of_many_who_are_refused_one_fetches_anew() -> None:
    login = Login()
    credentials = credentials_of(login)
    proof = await credentials.proof()
    assert await asyncio.gather(*(credentials.renew(proof) for _ in range(20))) == [True] * 20
    assert login.asked == 2


async def test_the_same_proof_again_is_no_news() -> None:
    login = Login()
    login.answer = Proof({"Authorization": "Bearer t"})
    credentials = credentials_of(login)
    assert not await credentials.renew(await credentials.proof())
    login.answer = Proof({"Authorization": "Bearer t"}, certificate="another")
    assert await credentials.renew(await credentials.proof())
    assert credentials.certificate == "another"


async def test_a_failure_is_told_to_all_and_the_source_asked_again_after_a_while() -> None:
    login = Login()
    login.fails = True
    credentials = credentials_of(login)
    for _ in range(20):
        with pytest.raises(Unavailable, match=r"no\. 1"):
            await credentials.proof()
    assert login.asked == 1
    login.now += FAILURE_SECONDS
    login.fails = False
    assert (await credentials.proof()).headers == {"Authorization": "Bearer 2"}


async def test_a_token_file_is_read_again_each_minute_and_when_it_is_refused(
    tmp_path: Path,
) -> None:
    file, login = tmp_path / "token", Login()
    file.write_text("old\n", encoding="utf-8")
    credentials = Credentials(from_token_file(str(file)), lambda: login.now)
    old = await credentials.proof()
    assert old.headers == {"Authorization": "Bearer old"}
    file.write_text("new\n", encoding="utf-8")
    assert await credentials.proof() is old
    login.now += TOKEN_FILE_SECONDS
    new = await credentials.proof()
    assert new.headers == {"Authorization": "Bearer new"}
    file.write_text("newest\n", encoding="utf-8")
    assert await credentials.renew(new)
    assert (await credentials.proof()).headers == {"Authorization": "Bearer newest"}


async def test_a_token_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    file = tmp_path / "token"
    with pytest.raises(Denied, match=r"token .*No such file"):
        await from_token_file(str(file))()
    for content in (b"", b" \n", b"a\nX-Header: b", "hünter2".encode()):
        file.write_bytes(content)
        with pytest.raises(Misconfigured, match="token: the token is empty or") as caught:
            await from_token_file(str(file))()
        assert "nter2" not in str(caught.value)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(Denied, match="it is no text"):
        await from_token_file(str(file))()


def test_a_proof_does_not_show_its_headers() -> None:
    assert "hunter2" not in repr(Proof({"Authorization": "Bearer hunter2"}))
