"""A Git host over ssh: the real sshd on a free port of the loopback address, as this user."""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.canaries.keys import write_key
from tests.canaries.places import canary
from tests.controlplane.processes import Server, ServerGroup, free_ports
from tests.gitservers.install import find_sshd

START_SECONDS = 60.0


@contextmanager
def ssh_server() -> Iterator[SshGitServer]:
    """Run an sshd for the length of a block; everything of it is in a folder that goes with it."""
    sshd = find_sshd()
    with ServerGroup("git-ssh") as group:
        server = SshGitServer(sshd, group)
        server.come_back()
        try:
            yield server
        finally:
            server.resume()


class SshGitServer:
    """Serves every repository that this user can reach."""

    def __init__(self, sshd: Path, group: ServerGroup) -> None:
        """Write keys and settings into the folder of `group`; nothing runs yet."""
        self._sshd = sshd
        self._group = group
        self._server: Server | None = None
        (self._port,) = free_ports(1)
        self._write_files()

    @property
    def folder(self) -> Path:
        """Return where keys and logs are."""
        return self._group.folder

    @property
    def key_file(self) -> Path:
        """Return the private key that is let in."""
        return self.folder / "client"

    @property
    def known_hosts_file(self) -> Path:
        """Return the file by which clients know this server."""
        return self.folder / "known_hosts"

    def url(self, repository: Path) -> str:
        """Return the address of a repository, told by its path on the disk."""
        return f"ssh://{getpass.getuser()}@127.0.0.1:{self._port}{repository.absolute()}"

    def environment(self, *, known_hosts: Path | None = None) -> dict[str, str]:
        """Return the variables by which git logs in here, and trusts nobody else."""
        hosts = known_hosts or self.known_hosts_file
        options = [f"UserKnownHostsFile={hosts}", "StrictHostKeyChecking=yes"]
        options += ["IdentitiesOnly=yes", "BatchMode=yes", f"IdentityFile={self.key_file}"]
        words = " ".join(f"-o {option}" for option in options)
        return {"GIT_SSH_COMMAND": f"ssh -F {os.devnull} {words}"}

    def go_away(self) -> None:
        """End sshd: the port is closed."""
        server, self._server = self._server, None
        if server is not None:
            self._group.retire(server)

    def come_back(self) -> None:
        """Start sshd, on the same port as before."""
        argv = [str(self._sshd), "-D", "-e", "-f", str(self.folder / "sshd_config")]
        self._server = self._group.start("sshd", argv)
        self._group.wait_until(self._accepts, what="sshd to listen", deadline_seconds=START_SECONDS)

    def pause(self) -> None:
        """Freeze sshd: connections are accepted by the kernel and never answered."""
        if self._server is not None:
            self._server.freeze()

    def resume(self) -> None:
        """Let a frozen sshd go on."""
        if self._server is not None:
            self._server.thaw()

    def _accepts(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self._port), timeout=2) as c:
            return c.recv(4) == b"SSH-"
        return False

    def _write_files(self) -> None:
        for name in ("host", "client"):
            write_key(self.folder / name, canary("ssh key", name))
        host_key = (self.folder / "host.pub").read_text(encoding="utf-8")
        known = f"[127.0.0.1]:{self._port} {host_key}"
        self.known_hosts_file.write_text(known, encoding="utf-8")
        lines = [
            f"ListenAddress 127.0.0.1:{self._port}",
            f"HostKey {self.folder / 'host'}",
            f"AuthorizedKeysFile {self.folder / 'client.pub'}",
            "AuthenticationMethods publickey",
            "PermitRootLogin prohibit-password",
            # The temporary folder's parents belong to everybody.
            "StrictModes no",
            "UsePAM no",
            "PidFile none",
            "AcceptEnv GIT_PROTOCOL",
        ]
        (self.folder / "sshd_config").write_text("\n".join(lines) + "\n", encoding="utf-8")
        if os.geteuid() == 0:
            # sshd drops its rights into this folder, and only the service's start makes it.
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
