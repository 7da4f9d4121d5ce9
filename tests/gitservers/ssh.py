"""A Git host over ssh: the real sshd on a free port of the loopback address, as this user."""

from __future__ import annotations

import getpass
import os
import socket
import subprocess
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.controlplane.processes import Server, ServerGroup, free_ports
from tests.gitservers.install import find_sshd

START_SECONDS = 20.0


class SshGitServer:
    """Serves every repository that this user can reach; use it as a context manager."""

    def __init__(self) -> None:
        self._sshd = find_sshd()
        self._group: ServerGroup | None = None
        self._server: Server | None = None
        (self._port,) = free_ports(1)

    def __enter__(self) -> Self:
        self._group = ServerGroup("git-ssh")
        try:
            self._write_files()
            self.come_back()
        except BaseException:
            self._group.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._group is not None:
            self.resume()
            self._group.close()

    @property
    def folder(self) -> Path:
        """Return where keys and logs are.

        Raises:
            RuntimeError: it does not run.
        """
        if self._group is None:
            raise RuntimeError("this ssh server does not run")
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
        if self._group is not None and server is not None:
            self._group.retire(server)

    def come_back(self) -> None:
        """Start sshd, on the same port as before."""
        if self._group is None:
            raise RuntimeError("this ssh server does not run")
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
            path = self.folder / name
            argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(path)]
            subprocess.run(argv, check=True, capture_output=True, stdin=subprocess.DEVNULL)
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
