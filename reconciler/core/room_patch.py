"""The JSON patch that writes a room's coarse state: one request, and it fails if we are late.

It tests the uid and the state label, and where it writes why a room leaves what stood there, not
the resourceVersion: a kubelet's write in between changes nothing for us, a flip by the room, an
allocation or a person who asks does (DESIGN §4). A field that is not
there passes a test for null, on the API server too (contract suite).
"""

from reconciler.model import labels
from reconciler.model.live import LivePod
from reconciler.model.refs import Json
from reconciler.model.rooms import Mark, Why

_STATE = labels.STATE.replace("/", "~1")
_LABEL_PATH = f"/metadata/labels/{_STATE}"
_NOTES_PATH = "/metadata/annotations"
_FIRST_NOTE: tuple[Json, ...] = (
    {"op": "test", "path": _NOTES_PATH, "value": None},
    {"op": "add", "path": _NOTES_PATH, "value": {}},
)
"""Where there are no annotations none can be added, nor even tested; whoever added one meanwhile
keeps it, and we come again."""


def operations(
    pod: LivePod,
    mark: Mark,
    leaving: Why,
    since: float,
    guard: tuple[str, str] | None = None,
    address: str = "",
    retold: bool = False,
) -> list[Json]:
    """Return the patch from `pod` as it was seen to `mark` and `leaving`.

    `since` (Unix seconds) is written beside a reason to leave; a room that was told so before
    keeps its time unless it begins to drain now. `guard` is what the disruption annotations
    shall say, None where they stay; `address` is what its public address is, "" as it stands.
    `retold` is whether it is told anew, for the reason that it was.
    """
    patch: list[Json] = [
        {"op": "test", "path": "/metadata/uid", "value": pod.uid},
        {"op": "test", "path": _LABEL_PATH, "value": pod.odd_mark or pod.mark.value or None},
        *(_FIRST_NOTE if pod.bare else ()),
    ]
    starts = retold or (mark is Mark.DRAINING and pod.mark is not Mark.DRAINING)
    if leaving is not pod.leaving or starts:
        # Whoever asked meanwhile that it leave, or stay, is not overruled by what was seen before.
        asked = pod.odd_leaving or pod.leaving.value or None
        patch.append({"op": "test", "path": _note(labels.LEAVING), "value": asked})
    if mark is not pod.mark or pod.odd_mark:
        patch.append(_set(_LABEL_PATH, mark.value, bool(pod.mark)))
    if leaving is not pod.leaving:
        patch.append(_set(_note(labels.LEAVING), leaving.value, bool(pod.leaving)))
    told = leaving and pod.leaving and pod.leaving_since
    if starts or (leaving is not pod.leaving and not told):
        text = f"{since:.3f}" if leaving else ""
        if text or pod.leaving_since:
            patch.append(_set(_note(labels.LEAVING_SINCE), text, bool(pod.leaving_since)))
    if guard is not None:
        names = (labels.SAFE_TO_EVICT, labels.DO_NOT_DISRUPT)
        for name, text, known in zip(names, guard, pod.guard, strict=True):
            if text != known:
                patch.append(_set(_note(name), text, bool(known)))
    if address and address != pod.address:
        patch.append(_set(_note(labels.ADDRESS), address, bool(pod.address)))
    return patch


def record(pod: LivePod, was_heard: bool) -> list[Json]:
    """Return what goes with a mark: whether it covers that the room was heard."""
    if was_heard == pod.was_heard:
        return []
    return [_set(_note(labels.WAS_HEARD), "true" if was_heard else "", pod.was_heard)]


def keeps(known: str) -> Json:
    """Return the test that the kept report is the one we know: another leader may have kept one."""
    return {"op": "test", "path": _note(labels.REPORT), "value": known or None}


def kept(text: str, known: str) -> Json:
    """Return the operation that keeps the last report of a game that reports on change only."""
    return _set(_note(labels.REPORT), text, bool(known))


def _note(name: str) -> str:
    return f"{_NOTES_PATH}/" + name.replace("/", "~1")


def _set(path: str, text: str, there: bool) -> Json:
    if text:
        # `add` sets what is there too, so nothing depends on whether it still is.
        return {"op": "add", "path": path, "value": text}
    # What is not there cannot be removed: it is set first.
    return {"op": "remove", "path": path} if there else {"op": "test", "path": path, "value": None}
