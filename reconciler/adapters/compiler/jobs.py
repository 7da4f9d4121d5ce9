"""In a worker: what it can be asked, and the loop that answers."""

import socket
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from reconciler import assets
from reconciler.adapters.compiler import objecting, reading, rendering
from reconciler.adapters.compiler.frames import Garbled, packed, receive
from reconciler.adapters.compiler.limits import EXIT_CRASHED, EXIT_GARBLED, EXIT_MEMORY

Task = Callable[[Any, Iterator[Any], Callable[[Any], None]], None]

TASKS: dict[str, Task] = {
    "render": rendering.serve_render,
    "read": reading.serve_read,
    "probe": reading.serve_probe,
    "objects": objecting.serve_objects,
}


def warm() -> None:
    """Load in the zygote what every worker would load again."""
    sys.dont_write_bytecode = True
    reading.warm()
    rendering.warm(assets.templates().values())


def serve(data: socket.socket) -> int:
    """Answer one task; return the exit code."""
    stream = data.makefile("rb")

    def answer(value: Any) -> None:
        data.sendall(packed(value))

    try:
        setup = receive(stream)
        if setup is not None:
            TASKS[setup["task"]](setup, iter(lambda: receive(stream), None), answer)
    except MemoryError:
        return EXIT_MEMORY
    except (Garbled, OSError):
        return EXIT_GARBLED
    except Exception as error:  # our own mistake, met by what strangers wrote: say where it is
        answer({"crashed": _where(error)})
        return EXIT_CRASHED
    return 0


def _where(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {frame.filename.rpartition('/')[2]}:{frame.lineno}"
