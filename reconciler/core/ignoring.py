"""`spec.ignore`: fields of our objects that others own, by JSON pointers (RFC 6901) into mappings.

Git's value is how such a field begins. On an object that is there it is what others make it: it
is neither compared nor written.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from reconciler.core.mistakes import Mistake, shown
from reconciler.core.pod_parts import child, entries
from reconciler.kube import managed_fields
from reconciler.kube.fieldpaths import field
from reconciler.model import labels
from reconciler.model.refs import Json, ObjectRef
from reconciler.model.specs import Ignored

_FIX = "take it out: Gamekeeper needs what stands there to know its objects and to protect rooms"
_MARKS = ("labels", "annotations")
_BUDGET = "PodDisruptionBudget"


def ignored_of(spec: Json) -> tuple[Ignored, ...]:
    """Return what a sound spec says of fields that others own."""
    return tuple(
        Ignored(each["kind"], tuple(each["paths"]), each.get("name") or "")
        for each in spec.get("ignore") or ()
    )


def check_ignore(spec: Json) -> Iterator[Mistake]:
    """Yield a mistake for each path that nobody else may own; paths begin inside the document."""
    for at, each in entries(spec, "ignore", ("spec",)):
        pointers = each.get("paths")
        for index, pointer in enumerate(pointers if isinstance(pointers, list) else ()):
            if isinstance(pointer, str) and pointer[:1] == "/":
                why = _needed(each.get("kind"), steps_of(pointer))
                if why:
                    message = f"{shown(pointer)} {why}"
                    yield Mistake((*at, "paths", index), message, _FIX, "ignore")


def _needed(kind: Any, steps: tuple[str, ...]) -> str:
    """Say why a field may not be left to others, "" where it may."""
    if steps[0] in ("apiVersion", "kind", "status"):
        return "is no field that anybody else can own"
    if steps[0] == "metadata":
        if len(steps) < 3 or steps[1] not in _MARKS:
            return "is no label or annotation: of metadata each of these can be left by itself"
        prefix = steps[2].rpartition("/")[0]
        if steps[2] in labels.OWNED_LABELS or f"{prefix}/".endswith(labels.PREFIX):
            return "is a mark of Gamekeeper's own"
    elif kind == _BUDGET:
        return "is what protects occupied rooms"
    return ""


def steps_of(pointer: str) -> tuple[str, ...]:
    """Return the steps of a JSON pointer that begins with `/`."""
    parts = pointer.split("/")[1:]
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)


def pointers_for(ignore: Iterable[Ignored], ref: ObjectRef) -> tuple[str, ...]:
    """Return the pointers that count for one object, each once."""
    found = (
        pointer
        for each in ignore
        if each.kind == ref.kind and each.name in ("", ref.name)
        for pointer in each.paths
    )
    return tuple(dict.fromkeys(found))


def through_list(body: Json, pointer: str) -> bool:
    """Whether a pointer leads into a list of `body`: an item has no place that stays its own."""
    value: Any = body
    for step in steps_of(pointer):
        if isinstance(value, list):
            return True
        value = child(value).get(step)
    return False


def laid_over(body: Json, there: Json, pointers: Iterable[str]) -> Json:
    """Return what is wanted of the object `there` for `body`: what others own as it is there.

    It is left out where the object has it no more. What is there is written again, for server-side
    apply takes away a field that its only owner leaves out, and replaces an atomic map as a whole.
    """
    for pointer in pointers:
        steps = steps_of(pointer)
        found, value = _value(there, steps)
        body = _put(body, steps, value) if found else _removed(body, steps)
    return body


def given_up(body: Json, there: Json, pointers: Iterable[str], manager: str) -> Json:
    """Return what is applied over `there` without the ignored fields that another manager owns.

    Server-side apply leaves such a field standing when we name it no more, and it is ours no more:
    its owners meet no conflict with us. A mapping or a list may have parts that are ours alone,
    which would go, so those stay; so does what nobody but our field `manager` owns.
    """
    others = managed_fields.union(
        owned.fields
        for owner, owned in managed_fields.read(there).items()
        if owner.manager != manager and owned.api_version == body["apiVersion"]
    )
    for pointer in pointers:
        steps = steps_of(pointer)
        found, value = _value(there, steps)
        single = found and not isinstance(value, dict | list)
        if single and others.contains(tuple(map(field, steps))):
            body = _removed(body, steps)
    return body


def _value(value: Any, steps: tuple[str, ...]) -> tuple[bool, Any]:
    for step in steps:
        if not isinstance(value, dict) or step not in value:
            return False, None
        value = value[step]
    return True, value


def _put(value: Any, steps: tuple[str, ...], inner: Any) -> Any:
    if not steps:
        return inner
    around = value if isinstance(value, dict) else {}
    return {**around, steps[0]: _put(around.get(steps[0]), steps[1:], inner)}


def _removed(value: Any, steps: tuple[str, ...]) -> Any:
    first, rest = steps[0], steps[1:]
    if not isinstance(value, dict) or first not in value:
        return value
    if rest:
        return {**value, first: _removed(value[first], rest)}
    return {name: inner for name, inner in value.items() if name != first}
