"""What may be secret in an object stays hidden where the cluster has it otherwise than Git."""

import json
from collections.abc import Iterator

import pytest

from reconciler.model.refs import Json
from tests.canaries.places import MARK, canary
from tests.e2e.commands import git
from tests.e2e.test_commands import Place, place, wait_until
from tests.loop.world import spec

__all__ = ["place"]
pytestmark = pytest.mark.long

BANS = 'metadata: {name: bans, annotations: {gamekeeper.dev/sensitive: "true"}}'
LOOP = ("--no-lease", "--poll-seconds", "1")


def write(place: Place, which: str, mode: str) -> None:
    """Commit a workload with secrets in its template, and in two objects beside it."""
    value = canary("container value", f"live {which}")
    game: Json = {"name": "game", "image": "registry.example/game:1"}
    game |= {"env": [{"name": "MYPWD", "value": value}], "args": [f"--dbpass={value}"]}
    template = {"spec": {"containers": [game]}}
    objects = place.repository / "objects" / "arena"
    objects.mkdir(parents=True, exist_ok=True)
    asked = spec("arena", 2, objects="objects/arena", template=template, drift={"mode": mode})
    (place.repository / "schedulers" / "arena.yaml").write_text(asked)
    head = "apiVersion: v1\nkind: ConfigMap\n"
    (objects / "configmap-bans.yaml.j2").write_text(f"{head}{BANS}\ndata: {{players: {value}}}\n")
    line = json.dumps(f'map {which}\nrcon_password "{value}" // ours\n')
    text = f"{head}metadata: {{name: server}}\ndata: {{server.cfg: {line}}}\n"
    (objects / "configmap-server.yaml.j2").write_text(text)
    git(place.repository, "add", "--all")
    git(place.repository, "commit", "-qm", f"{which}, {mode}")


def meddle(place: Place, which: str) -> None:
    """Change both objects, as somebody else."""
    value = canary("container value", f"live {which}")
    changes = {"bans": {"players": value}, "server": {"server.cfg": f"sv_password {value}; x\n"}}
    for name, data in changes.items():
        patch = json.dumps({"data": data})
        words = ("patch", "configmap", name, "-n", "arena", "--type", "merge", "-p", patch)
        place.kubectl(*words, "--field-manager", "somebody")


def told(place: Place, *commands: tuple[str, ...]) -> Iterator[str]:
    """Yield what each command says in each form, once no secret was found in it."""
    for words in commands:
        for output in ("text", "json", *(["github"] if words[0] == "diff" else [])):
            done = place.run(*words, "--output", output)
            said = done.stdout + done.stderr
            assert MARK not in said, words
            yield said


def assert_of_bans(place: Place) -> None:
    """Assert that it is told which object differs, and nothing of what stands in it."""
    status, structured, *_ = told(place, ("status",), ("explain", "arena"), ("diff", "--live"))
    assert "ConfigMap arena/bans" in status
    assert "ConfigMap arena/bans" in structured


def test_no_command_tells_a_secret_of_an_object_that_differs_in_the_cluster(place: Place) -> None:
    place.settings["GAMEKEEPER_ALLOW_KINDS"] = "ConfigMap"
    write(place, "old", "warn")
    assert place.run("apply", "--yes").returncode == 0
    write(place, "new", "warn")
    text, structured, _ = told(place, ("diff", "--live"))
    for said in text, structured:
        assert "*** (before)" in said, "the sensitive one"
        assert "rcon_password *** // ours" in said
        assert "map new" in said, "what is no secret is shown"
    assert place.run("apply", "--yes").returncode == 0

    with place.loop(*LOOP):
        meddle(place, "theirs")
        wait_until(lambda: "changed ConfigMap arena/bans" in place.run("status").stdout)
        assert_of_bans(place)
        write(place, "new", "heal")

        def is_contest() -> bool:
            meddle(place, "theirs")
            return "arena/bans is changed by somebody" in place.run("status").stdout

        wait_until(is_contest)
        assert_of_bans(place)
        assert MARK not in place.kubectl("get", "events", "-A", "-o", "json")
