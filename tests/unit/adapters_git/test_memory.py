"""The faults of the host in memory, which tests of the loop order."""

import pytest

from reconciler.adapters.git.memory import MemoryHost, MemoryRepository
from reconciler.model.errors import Conflict, Denied, Unavailable
from tests.contract.pushes import START, change


async def opened() -> tuple[MemoryHost, MemoryRepository, str]:
    host = MemoryHost()
    base = host.commit(START)
    repository = MemoryRepository(host)
    await repository.fetch()
    return host, repository, base


async def test_a_rival_lands_before_the_push_and_is_kept() -> None:
    host, repository, base = await opened()
    host.rivals = [{"a.yaml": "a"}, {"b.yaml": "b"}]
    for lost in range(2):
        with pytest.raises(Conflict):
            await repository.push(change(base))
        assert len(host.commits) == 2 * (lost + 1) + 1
        base = (await repository.fetch()).commit
    pushed = await repository.push(change(base))
    assert sorted(host.commits[pushed.commit].files) == sorted([*START, "a.yaml", "b.yaml"])
    assert [move.forced for move in host.moves] == [False]


async def test_a_refusal_hits_pushes_alone_until_healed() -> None:
    host, repository, base = await opened()
    host.refusal = Denied("the token has expired")
    assert (await repository.fetch()).commit == base
    with pytest.raises(Denied, match="expired"):
        await repository.push(change(base))
    host.heal()
    assert (await repository.push(change(base))).commit == host.branches["main"]


async def test_a_host_that_falls_with_the_answer_has_the_commit() -> None:
    host, repository, base = await opened()
    host.lost_answers, host.falls = 1, True
    written = await repository.write(change(base))
    with pytest.raises(Unavailable, match="ended before"):
        await repository.push(change(base), written)
    with pytest.raises(Unavailable):
        await repository.fetch()
    assert host.branches["main"] == written
    host.heal()
    head = (await repository.fetch()).commit
    assert (await repository.lineage(base, head)).commits == (written,)


async def test_a_long_history_is_newest_first_and_soon_read() -> None:
    host, repository, base = await opened()
    made = [host.commit({"a.yaml": str(number)}) for number in range(1500)]
    head = (await repository.fetch()).commit
    found = await repository.lineage(base, head, 2000)
    assert list(found.commits) == list(found.first_parents) == made[::-1]
