"""As whom a request asks to be seen: its `Impersonate-*` headers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from reconciler.sandbox import refusals
from reconciler.sandbox.refusals import quoted
from reconciler.sandbox.requests import Request

MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"
_UNAUTHENTICATED = "system:unauthenticated"
_ANONYMOUS = "system:anonymous"
_ACCOUNT = "system:serviceaccount:"
_EXTRA = "impersonate-extra-"


@dataclass(frozen=True, slots=True)
class Wish:
    """Who somebody asks to be."""

    name: str
    uid: str
    groups: Sequence[str]
    extra: Mapping[str, Sequence[str]]

    @property
    def account(self) -> tuple[str, str] | None:
        """Give namespace and name of the service account that this is, if it is one."""
        namespace, _, name = self.name.removeprefix(_ACCOUNT).partition(":")
        whole = self.name.startswith(_ACCOUNT) and namespace and name and ":" not in name
        return (namespace, name) if whole else None

    @property
    def mode(self) -> str:
        """Give the word by which a refusal names this kind of impersonation."""
        return "serviceaccount" if self.account else "user-info"

    def needs(self) -> Iterator[tuple[str, str, str, str]]:
        """Tell group, resource, namespace and name of all that one must be allowed to be."""
        if self.account:
            yield ("", "serviceaccounts", *self.account)
        else:
            yield ("", "users", "", self.name)
        for group in self.groups:
            yield ("", "groups", "", group)
        if self.uid:
            yield ("authentication.k8s.io", "uids", "", self.uid)
        for key, values in self.extra.items():
            for value in values:
                yield ("authentication.k8s.io", f"userextras/{key}", "", value)

    def all_groups(self) -> Sequence[str]:
        """Give the groups with those that the server adds."""
        groups = list(self.groups)
        if self.account and not groups:
            groups += ["system:serviceaccounts", f"system:serviceaccounts:{self.account[0]}"]
        if AUTHENTICATED in groups or _UNAUTHENTICATED in groups:
            return groups
        return [*groups, _UNAUTHENTICATED if self.name == _ANONYMOUS else AUTHENTICATED]


def wish_of(request: Request) -> Wish | None:
    """Read as whom a request asks to be seen. Raises Refused (400)."""
    headers = request.headers
    name, *_ = _lines(headers, "impersonate-user") or [""]
    uid, *_ = _lines(headers, "impersonate-uid") or [""]
    extra = {
        unquote(header.removeprefix(_EXTRA)): _lines(headers, header)
        for header in sorted(headers)
        if header.startswith(_EXTRA)
    }
    wish = Wish(name, uid, _lines(headers, "impersonate-group"), extra)
    if name:
        return wish
    if uid or wish.groups or extra:
        why = f"requested {_go(wish)} without impersonating a user name"
        raise refusals.failure(400, "BadRequest", why)
    return None


def _lines(headers: Mapping[str, str], name: str) -> list[str]:
    return headers[name].split("\n") if name in headers else []


def _go(wish: Wish) -> str:
    """Print a wish as Go prints what it stands for."""
    extra = ", ".join(f"{quoted(key)}:{_strings(wish.extra[key])}" for key in sorted(wish.extra))
    extra = f"{{{extra}}}" if extra else "(nil)"
    return (
        f'&user.DefaultInfo{{Name:"", UID:{quoted(wish.uid)}, Groups:{_strings(wish.groups)}, '
        f"Extra:map[string][]string{extra}}}"
    )


def _strings(values: Sequence[str]) -> str:
    listed = ", ".join(quoted(value) for value in values)
    return f"[]string{{{listed}}}" if listed else "[]string(nil)"
