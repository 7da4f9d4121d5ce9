"""The compiler of a process, whose own process may be begun before anybody asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from reconciler.adapters.compiler.zygote import Zygote
from reconciler.model.errors import Unavailable

if TYPE_CHECKING:
    from reconciler.adapters.compiler.compiler import WorkerCompiler

_BEGUN: list[Zygote] = []
"""What is begun and nobody took yet: one at most."""


@contextmanager
def begun_early() -> Iterator[None]:
    """Let the compiler's process import what it needs while the caller imports what it needs.

    Each takes nearly half of what a short command takes. Who calls `make_compiler` inside takes the
    process over; where nobody does, as after a mistake in the arguments, it is ended.
    """
    zygote = Zygote()
    # One that cannot be begun is tried again, and told, where it is needed.
    with suppress(Unavailable):
        zygote.start()
        _BEGUN.append(zygote)
    try:
        yield
    finally:
        if zygote in _BEGUN:
            _BEGUN.remove(zygote)
            zygote.kill()


def make_compiler() -> WorkerCompiler:
    """Return a compiler over the packaged templates; its zygote starts at once.

    Raises Misconfigured, Unavailable.
    """
    from reconciler import assets
    from reconciler.adapters.compiler.compiler import WorkerCompiler

    zygote = _BEGUN.pop() if _BEGUN else Zygote()
    zygote.start()
    return WorkerCompiler(zygote, assets.templates())
