"""The process that reads specs begins before a command is imported, and none is left behind."""

from collections.abc import Iterator

import pytest

from reconciler.adapters.compiler.zygote import Zygote
from reconciler.cli import main
from reconciler.cli.commands import COMMANDS, Command, CommandModule
from reconciler.model.errors import Unavailable
from reconciler.wiring import compilers


class Kept(Zygote):
    """A zygote that is told of."""

    made: list[Zygote]

    def __init__(self) -> None:
        super().__init__()
        self.made.append(self)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Zygote]]:
    monkeypatch.setattr(Kept, "made", [], raising=False)
    monkeypatch.setattr(compilers, "Zygote", Kept)
    yield Kept.made
    for zygote in Kept.made:
        zygote.close()


def running(made: list[Zygote]) -> int:
    return sum(zygote.pid is not None for zygote in made)


async def test_a_command_that_compiles_takes_over_the_process_that_was_begun(
    made: list[Zygote], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_import: list[int] = []
    load = Command.load

    def loaded(command: Command) -> CommandModule:
        at_import.append(running(made))
        return load(command)

    monkeypatch.setattr(Command, "load", loaded)
    with compilers.begun_early():
        compiler = compilers.make_compiler()
    try:
        assert (len(made), running(made)) == (1, 1), "who took it over ends it"
    finally:
        await compiler.close()
    assert main.main(["validate", "--no-such-option"]) == 1
    assert at_import == [1]


@pytest.mark.parametrize("name", [each.name for each in COMMANDS if each.compiles])
def test_a_process_that_nobody_took_over_is_ended(made: list[Zygote], name: str) -> None:
    assert main.main([name, "--no-such-option"]) == 1
    assert (len(made), running(made)) == (1, 0)


def test_help_begins_none(made: list[Zygote]) -> None:
    assert main.main(["validate", "--help"]) == 0
    assert not made


def test_one_that_cannot_be_begun_is_tried_again_where_it_is_needed(
    made: list[Zygote], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(zygote: Zygote) -> None:
        raise Unavailable("The compiler's process could not be started")

    monkeypatch.setattr(Kept, "start", full)
    with pytest.raises(LookupError) as lookup, compilers.begun_early():
        raise LookupError
    assert lookup.value.__context__ is None, "what fails inside is told as what it is"
    made.clear()
    assert main.main(["validate", "."]) == 1
    assert len(made) == 2
    assert "could not be started" in capsys.readouterr().err
