"""From a user entry to who we are, and as whom we ask."""

from collections.abc import Iterator
from urllib.parse import quote

from reconciler.adapters.kubernetes import credentials
from reconciler.adapters.kubernetes.credentials import Source
from reconciler.adapters.kubernetes.kubeconfig import Chosen
from reconciler.model.errors import Misconfigured


def source_of(chosen: Chosen, plugin: Source | None) -> Source:
    """Return where the credentials come from; `plugin` runs the entry's program, if it has one.

    Of several the same one counts as for kubectl. Raises Misconfigured where none of them works.
    """
    user = chosen.user
    if "auth-provider" in user:
        raise Misconfigured(
            f"{chosen.origin} uses an auth-provider, which Kubernetes dropped: use an exec plugin"
        )
    has_token, has_name = "token" in user or "tokenFile" in user, "username" in user
    if has_token and has_name:
        raise Misconfigured(
            f"{chosen.origin} has both a token and a username to log in with: keep one of them"
        )
    if "tokenFile" in user:
        return credentials.from_token_file(user["tokenFile"])
    if has_token:
        return credentials.fixed(credentials.bearer(user["token"], chosen.origin))
    if has_name:
        pair = credentials.basic(user["username"], user.get("password", ""))
        return credentials.fixed(pair)
    return plugin or credentials.fixed({})


def impersonation_of(chosen: Chosen) -> tuple[tuple[str, str], ...]:
    """Return the headers that ask the server to see us as somebody else.

    Raises Misconfigured where a group, uid or extra is named and no user.
    """
    headers = tuple(_impersonation(chosen))
    if headers and not chosen.user.get("as"):
        raise Misconfigured(
            f"{chosen.origin} names groups, a uid or extras to impersonate and no user: pass --as"
        )
    for name, value in headers:
        if not value.isprintable():
            raise Misconfigured(f"{chosen.origin}: {name} holds what no header can: write it again")
    return headers


def _impersonation(chosen: Chosen) -> Iterator[tuple[str, str]]:
    user = chosen.user
    if user.get("as"):
        yield "Impersonate-User", user["as"]
    if user.get("as-uid"):
        yield "Impersonate-Uid", user["as-uid"]
    for group in user.get("as-groups", ()):
        yield "Impersonate-Group", str(group)
    for key, values in user.get("as-user-extra", {}).items():
        for value in values if isinstance(values, list) else [values]:
            yield f"Impersonate-Extra-{quote(str(key), safe='')}", str(value)
