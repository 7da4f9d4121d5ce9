"""The order of a list after a strategic merge: the patch's, with the rest where it stood."""

from typing import Any

from reconciler.kube.json_types import same


def ordered(merged: list[Any], order: list[Any], live: list[Any], key: str | None) -> list[Any]:
    """Put merged items in order: those in `order` as there, the others by their place in `live`.

    An item that `live` has stands before the first ordered one that came after it there; new items
    go before what follows. `key` names the field that tells items apart (None: the value itself).
    """

    def place(items: list[Any], item: Any) -> int:
        name = _name(item, key)
        return next((i for i, one in enumerate(items) if same(_name(one, key), name)), -1)

    patched = sorted(
        (item for item in merged if place(order, item) >= 0), key=lambda item: place(order, item)
    )
    others = sorted(
        (item for item in merged if place(order, item) < 0), key=lambda item: place(live, item)
    )
    result: list[Any] = []
    others.reverse()
    for item in patched:
        stood = place(live, item)
        while others and 0 <= place(live, others[-1]) < stood:
            result.append(others.pop())
        result.append(item)
    return result + others[::-1]


def _name(item: Any, key: str | None) -> Any:
    return item.get(key) if key is not None and isinstance(item, dict) else item
