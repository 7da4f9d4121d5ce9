"""Credentials of real hosts that are exchanged under a mirror that runs: no restart takes part."""

from dataclasses import replace
from pathlib import Path

import pytest

from reconciler.model.errors import Denied, PortError
from tests.canaries.keys import write_key
from tests.canaries.places import canary
from tests.contract.pushes import START, change
from tests.contract.upstreams import OverHttp, OverSsh, opened, upstream
from tests.gitservers.certificates import make_certificate

pytestmark = [pytest.mark.long, pytest.mark.real]

LATER = {"rooms/new.yaml": "replicas: 1\n"}


async def test_an_ssh_key_that_is_exchanged_is_used_at_the_next_fetch_and_push(
    tmp_path: Path,
) -> None:
    with upstream("ssh", tmp_path) as host:
        assert isinstance(host, OverSsh)
        base, folder = host.commit(START), host.server.folder
        write_key(folder / "next", canary("ssh key", "the next one"))
        async with opened(host) as repository:
            assert (await repository.fetch()).commit == base
            (folder / "next.pub").replace(folder / "client.pub")
            second = host.commit(LATER)
            with pytest.raises(Denied, match="check the token or key"):
                await repository.fetch()
            (folder / "next").replace(host.server.key_file)
            assert (await repository.fetch()).commit == second
            pushed = await repository.push(change(second))
        assert host.head() == pushed.commit


async def test_an_authority_that_is_exchanged_is_trusted_at_the_next_fetch_and_the_old_one_is_not(
    tmp_path: Path,
) -> None:
    with upstream("https", tmp_path) as host:
        assert isinstance(host, OverHttp)
        shown, trusted = host.server.authority_file, tmp_path / "trusted.crt"
        assert shown is not None
        old = shown.read_bytes()
        trusted.write_bytes(old)
        host.source = replace(host.source, certificate_authority_file=str(trusted))
        base = host.commit(START)
        async with opened(host) as repository:
            assert (await repository.fetch()).commit == base
            host.server.go_away()
            make_certificate(shown.parent)
            host.server.come_back()
            second = host.commit(LATER)
            with pytest.raises(PortError, match="certificate"):
                await repository.fetch()
            trusted.write_bytes(shown.read_bytes())
            assert (await repository.fetch()).commit == second
            pushed = await repository.push(change(second))
            trusted.write_bytes(old)
            with pytest.raises(PortError, match="certificate"):
                await repository.fetch()
        assert host.head() == pushed.commit
