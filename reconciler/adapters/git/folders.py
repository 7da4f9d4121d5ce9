"""Paths of a repository of which one folder is read, seen from that folder and from the top.

Who reads a folder knows its paths from there; Git knows them from the top. "" is the top. In logs
a path that is not in the folder stands from the top, with a slash in front: what is in the folder
now may have come from elsewhere.
"""

from reconciler.model.errors import Misconfigured
from reconciler.model.trees import is_plain


def check_folder(written: str) -> str:
    """Return a folder of a repository as Git writes it, "" for the top. Raises Misconfigured."""
    folder = written.removesuffix("/").removeprefix("./")
    if folder in ("", "."):
        return ""
    if len(folder) > 1000 or not is_plain(folder):
        raise Misconfigured(
            f"--path {written[:100]!r} is no folder inside a repository: write it from the "
            "repository's top, as environments/eu-prod, without .. and without a slash in front"
        )
    return folder


def from_top(folder: str, path: str) -> str:
    """Return a path of the folder as Git knows it."""
    if path.startswith("/"):
        return path[1:]
    return f"{folder}/{path}" if folder else path


def from_folder(folder: str, path: str) -> str:
    """Return a path of Git's as it is from the folder; with a slash in front what is not in it."""
    if not folder:
        return path
    return path.removeprefix(f"{folder}/") if path.startswith(f"{folder}/") else f"/{path}"
