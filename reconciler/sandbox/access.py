"""Who asks, and whether that is allowed: everything is, unless rules were set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reconciler.sandbox import refusals, routes
from reconciler.sandbox.impersonation import AUTHENTICATED, MASTERS, Wish, wish_of
from reconciler.sandbox.kinds import Kind
from reconciler.sandbox.refusals import Refused
from reconciler.sandbox.requests import Json, Request, flag
from reconciler.sandbox.routes import Target

_ABOUT_ONESELF = "selfsubject"
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch"}


@dataclass(frozen=True, slots=True)
class Rule:
    """What one rule of a role allows; `*` means any; resources may be `pods/log`."""

    verbs: Sequence[str]
    groups: Sequence[str] = ("*",)
    resources: Sequence[str] = ("*",)
    names: Sequence[str] = ()
    namespaces: Sequence[str] = ()

    def allows(self, asked: Asked) -> bool:
        """Tell whether this rule covers what is asked."""
        return (
            _covers(self.verbs, asked.verb)
            and _covers(self.groups, asked.group)
            and _covers(self.resources, asked.resource)
            and (not self.names or asked.name in self.names)
            and (not self.namespaces or asked.namespace in self.namespaces)
        )

    def as_json(self) -> Json:
        """Write this rule as a rules review does."""
        rule: Json = {"verbs": list(self.verbs), "apiGroups": list(self.groups)}
        rule["resources"] = list(self.resources)
        return rule | ({"resourceNames": list(self.names)} if self.names else {})


@dataclass(frozen=True, slots=True)
class Asked:
    """One question to the rules."""

    verb: str
    group: str = ""
    resource: str = ""
    namespace: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class User:
    """Someone who may speak to the sandbox; rules of None allow everything."""

    name: str
    groups: Sequence[str] = (AUTHENTICATED,)
    rules: Sequence[Rule] | None = None
    uid: str = ""
    extra: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def known(self) -> bool:
        """Tell whether this user logged in, and may so ask what there is and about himself."""
        return AUTHENTICATED in self.groups

    def allows(self, asked: Asked) -> bool:
        """Tell whether this user may do what is asked."""
        return self.rules is None or any(rule.allows(asked) for rule in self.rules)


ADMIN = User("kubernetes-admin", (MASTERS, AUTHENTICATED))


@dataclass(slots=True)
class Access:
    """Users by their bearer token; with none, everybody is the administrator."""

    tokens: Mapping[str, User] = field(default_factory=dict)

    def user(self, request: Request) -> User:
        """Find as whom a request is seen. Raises Refused (400, 401, 403)."""
        caller = self._caller(request)
        wish = wish_of(request)
        if wish is None:
            return caller
        asked = (Asked("impersonate", *one) for one in wish.needs())
        if not all(caller.allows(one) for one in asked):
            raise _denied(caller, request, f"impersonate-on:{wish.mode}:")
        groups = wish.all_groups()
        rules = None if MASTERS in groups else self._rules_of(wish)
        return User(wish.name, groups, rules, wish.uid, wish.extra)

    def _caller(self, request: Request) -> User:
        if not self.tokens:
            return ADMIN
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        user = self.tokens.get(token) if scheme.lower() == "bearer" else None
        if user is None:
            raise refusals.failure(401, "Unauthorized", "Unauthorized")
        return user

    def _rules_of(self, wish: Wish) -> Sequence[Rule]:
        """Find what was allowed to a name; who was never heard of may do nothing."""
        named = (user.rules for user in self.tokens.values() if user.name == wish.name)
        return next((rules for rules in named if rules is not None), ())

    def check_path(self, user: User, request: Request) -> None:
        """Let a question about the API itself pass. Raises Refused (403)."""
        if not user.known and user.rules is not None:
            raise _denied(user, request)

    def check(self, user: User, request: Request, target: Target) -> None:
        """Let a request pass. Raises Refused (403)."""
        about_oneself = user.known and target.kind.plural.startswith(_ABOUT_ONESELF)
        if not about_oneself and not user.allows(question(request, target)):
            raise _denied(user, request)


def _denied(user: User, request: Request, prefix: str = "") -> Refused:
    """Say what a user may not do; a prefix qualifies the verb."""
    try:
        target = routes.route(request.path)
    except (routes.Unrouted, Refused):
        verb = f"{prefix}{request.method.lower()}"
        why = f'forbidden: User "{user.name}" cannot {verb} path "{request.path}"'
        return refusals.failure(403, "Forbidden", why, {})
    asked = question(request, target)
    where = f' in the namespace "{asked.namespace}"' if asked.namespace else ""
    where = where or " at the cluster scope"
    why = (
        f'User "{user.name}" cannot {prefix}{asked.verb} resource "{asked.resource}" '
        f'in API group "{asked.group}"{where}'
    )
    return refusals.forbidden(target.kind, target.name, why)


def question(request: Request, target: Target) -> Asked:
    """Say what a request asks in the words of the rules."""
    kind: Kind = target.kind
    resource = f"{kind.plural}/{target.subresource}" if target.subresource else kind.plural
    namespace = target.namespace or (target.name if kind.plural == "namespaces" else "")
    return Asked(_verb(request, target), kind.group, resource, namespace, target.name)


def _verb(request: Request, target: Target) -> str:
    if request.method == "GET":
        if target.name:
            return "get"
        return "watch" if flag(request, "watch") else "list"
    if request.method == "DELETE":
        return "delete" if target.name else "deletecollection"
    return _VERBS.get(request.method, request.method.lower())


def _covers(listed: Sequence[str], one: str) -> bool:
    return "*" in listed or one in listed
