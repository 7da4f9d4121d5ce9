"""Where a mirror comes from: what a process setting says about one repository."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Source:
    """A repository and how to get in. Files are read again at each fetch, so they may rotate."""

    url: str
    branch: str = "main"
    path: str = ""
    """The folder that is read and written, "" for the top; paths are from there."""
    username: str = "git"
    """User name that goes with the token over HTTPS; hosts that ignore it take any."""
    token_file: str = ""
    """File whose first line is the token (or password) for HTTPS."""
    ssh_key_file: str = ""
    known_hosts_file: str = ""
    """Host keys that are trusted; empty: those of the user. Unknown hosts are refused."""
    certificate_authority_file: str = ""
    """Certificates that HTTPS hosts are checked against; empty: those of the machine."""
    plain_http: bool = False
    """Allow http:// to hosts other than loopback."""
    fetch_deadline_seconds: float = 60.0

    def as_dict(self) -> dict[str, Any]:
        """Return the fields for the child."""
        return asdict(self)
