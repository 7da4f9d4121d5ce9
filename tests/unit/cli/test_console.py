import asyncio

import pytest

from reconciler.cli import progress
from reconciler.cli.progress import Progress
from tests.unit.cli.screens import console, text_of


@pytest.mark.parametrize(
    ("tty", "environment", "coloured"),
    [
        pytest.param(True, {}, True, id="a terminal has colour"),
        pytest.param(False, {}, False, id="a pipe has none"),
        pytest.param(True, {"NO_COLOR": "1"}, False, id="NO_COLOR is obeyed"),
        pytest.param(True, {"NO_COLOR": ""}, True, id="an empty NO_COLOR says nothing"),
        pytest.param(True, {"TERM": "dumb"}, False, id="a dumb terminal has none"),
    ],
)
def test_colour(tty: bool, environment: dict[str, str], coloured: bool) -> None:
    screen = console(tty=tty, **environment)
    assert screen.paint("held", "red", "bold") == ("\x1b[31;1mheld\x1b[0m" if coloured else "held")


def hasten(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("QUIET_SECONDS", "REWRITE_SECONDS"):
        monkeypatch.setattr(progress, name, 0.01)
    monkeypatch.setattr(progress, "REPEAT_SECONDS", 60.0)


async def test_quick_work_says_nothing() -> None:
    screen = console(tty=True)
    async with Progress(screen, "reading"):
        await asyncio.sleep(0)
    assert text_of(screen.err) == ""


async def test_long_work_rewrites_one_line_and_takes_it_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hasten(monkeypatch)
    screen = console(tty=True)
    async with Progress(screen, "reading") as told:
        await asyncio.sleep(0.05)
        told.text = "rendering"
        await asyncio.sleep(0.05)
    said = text_of(screen.err)
    assert "reading (0 s)" in said
    assert "rendering (0 s)" in said
    assert "\n" not in said
    assert said.endswith("\r\x1b[K")
    assert text_of(screen.out) == ""


async def test_long_work_into_a_file_says_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hasten(monkeypatch)
    screen = console()
    async with Progress(screen, "reading"):
        await asyncio.sleep(0.1)
    assert text_of(screen.err) == "reading (0 s)\n"


ORDERS = "\x1b]0;title\x07\x1b[2J\x9b31m\r\u202e"


@pytest.mark.parametrize("tty", [True, False])
def test_what_is_printed_gives_no_orders_to_a_terminal(tty: bool) -> None:
    screen = console(tty=tty)
    screen.print(f"a\tb\n{ORDERS}")
    screen.note(ORDERS)
    said = "\\u001b]0;title\\u0007\\u001b[2J\\u009b31m\\u000d\\u202e\n"
    assert (text_of(screen.out), text_of(screen.err)) == (f"a\tb\n{said}", said)


def test_a_pipe_gets_no_colour_of_a_stranger_and_a_terminal_gets_ours() -> None:
    piped, terminal = console(), console(tty=True)
    piped.print("\x1b[31mred")
    terminal.print(terminal.paint("held", "red", "bold"))
    assert text_of(piped.out) == "\\u001b[31mred\n"
    assert text_of(terminal.out) == "\x1b[31;1mheld\x1b[0m\n"
