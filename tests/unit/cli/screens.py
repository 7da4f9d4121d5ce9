"""Consoles whose streams are strings, on a terminal or not."""

import io

from reconciler.cli.console import Console


class Screen(io.StringIO):
    """A stream that says whether it is a terminal."""

    def __init__(self, *, tty: bool = False) -> None:
        super().__init__()
        self._tty = tty

    def isatty(self) -> bool:
        return self._tty


def console(*, tty: bool = False, **environment: str) -> Console:
    return Console(Screen(tty=tty), Screen(tty=tty), environment)


def text_of(stream: object) -> str:
    assert isinstance(stream, Screen)
    return stream.getvalue()
