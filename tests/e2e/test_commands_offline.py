"""diff BASE HEAD: from two commits alone."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.model.refs import Json
from tests.canaries.places import MARK, canary
from tests.e2e.commands import commit, fleet, gamekeeper, git
from tests.gitservers.signing import Person, signers_file
from tests.loop.world import spec

pytestmark = pytest.mark.long

SPEC = "schedulers/arena.yaml"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with twenty rooms on `main`, and a branch `topic` checked out."""
    made = fleet(tmp_path / "fleet")
    commit(made, SPEC, "replicas: 2", "replicas: 20")
    git(made, "switch", "-qc", "topic")
    return made


def test_a_branch_that_changes_nothing_is_no_change(repository: Path) -> None:
    done = gamekeeper("diff", "main", cwd=repository)
    assert (done.returncode, done.stdout) == (0, "Nothing to do.\n")


def test_what_only_the_base_changed_is_no_change_of_the_branch(repository: Path) -> None:
    git(repository, "switch", "-q", "main")
    commit(repository, SPEC, "replicas: 20", "replicas: 30")
    assert gamekeeper("diff", "main", "topic", cwd=repository).returncode == 0


@pytest.mark.parametrize("output", ["json", "yaml", "github", "text"])
def test_every_format_names_change_hash_and_place(repository: Path, output: str) -> None:
    commit(repository, SPEC, "replicas: 20", "replicas: 2")
    done = gamekeeper("diff", "main", "--output", output, cwd=repository)
    assert done.returncode == 2, done.stderr
    for said in ("bd7085a350de", "18 rooms removed", SPEC):
        assert said in done.stdout


def test_places_are_as_they_are_from_here(repository: Path) -> None:
    commit(repository, SPEC, "replicas: 20", "replicas: 21")
    done = gamekeeper("diff", "main", "-o", "json", cwd=repository / "schedulers")
    assert json.loads(done.stdout)["workloads"][0]["source"] == "arena.yaml:4"


def test_annotations_stand_at_what_was_changed(repository: Path) -> None:
    lines = (repository / SPEC).read_text().splitlines()
    (count,) = (n for n, line in enumerate(lines, 1) if "replicas:" in line)
    (image,) = (n for n, line in enumerate(lines, 1) if "image:" in line)
    commit(repository, SPEC, "replicas: 20", "replicas: 2")
    said = gamekeeper("diff", "main", "-o", "github", cwd=repository).stdout.splitlines()
    place = f"file={SPEC},line={count},col={lines[count - 1].index('2') + 1},title="
    assert said[0].startswith(f"::notice {place}Scheduler/arena::update: 18 rooms removed")
    assert said[1].startswith(f"::warning {place}held%3A Scheduler/arena::")
    assert said[1].endswith("%0Anone of it acts until: gamekeeper approve bd7085a350de")
    commit(repository, SPEC, "replicas: 2", "replicas: 20")
    commit(repository, SPEC, "image: ", "image: x")
    (said_of_image,) = gamekeeper(
        "diff", "main", "-o", "github", cwd=repository
    ).stdout.splitlines()
    assert f"file={SPEC},line={image},col=" in said_of_image


def test_what_is_deleted_is_annotated_at_its_file_as_a_whole(repository: Path) -> None:
    text = (repository / SPEC).read_text()
    (repository / "schedulers/lobby.yaml").write_text(text.replace("arena", "lobby"))
    git(repository, "add", "--all")
    git(repository, "commit", "-qm", "a second one")
    git(repository, "branch", "-f", "main", "topic")
    git(repository, "rm", "-q", SPEC)
    git(repository, "commit", "-qm", "one less")
    said = gamekeeper("diff", "main", "-o", "github", cwd=repository).stdout.splitlines()
    assert said[0].startswith(f"::notice file={SPEC},title=Scheduler/arena::delete: 20 rooms")
    assert said[1].startswith(f"::warning file={SPEC},title=held%3A Scheduler/arena::")


@pytest.mark.parametrize(
    ("words", "hold"),
    [
        pytest.param(["rm", "-rq", "schedulers"], "last-spec", id="the last spec"),
        pytest.param(["mv", "schedulers", "rooms"], "last-spec", id="a moved directory"),
    ],
)
def test_what_looks_like_a_deletion_is_held(repository: Path, words: list[str], hold: str) -> None:
    git(repository, *words)
    git(repository, "commit", "-qam", "gone")
    done = gamekeeper("diff", "main", "-o", "json", cwd=repository)
    assert done.returncode == 2
    (held,) = json.loads(done.stdout)["holds"]
    assert (held["hold"], held["changeHash"]) == (hold, "d1007e0425df")


def test_every_mistake_of_the_head_is_printed_and_exits_1(repository: Path) -> None:
    commit(repository, SPEC, "replicas: 20", "replicas: many\n  replicsa: 2")
    done = gamekeeper("diff", "main", cwd=repository)
    assert done.returncode == 1
    assert done.stdout.count(f"{SPEC}:") >= 2
    assert "held: Scheduler/arena" in done.stdout


def test_a_conflict_names_the_paths(repository: Path) -> None:
    commit(repository, SPEC, "replicas: 20", "replicas: 21")
    git(repository, "switch", "-q", "main")
    commit(repository, SPEC, "replicas: 20", "replicas: 22")
    done = gamekeeper("diff", "main", "topic", cwd=repository)
    assert done.returncode == 1
    assert f"conflicts in {SPEC}" in done.stderr


def test_a_shallow_clone_is_told_which_depth_helps(repository: Path, tmp_path: Path) -> None:
    commit(repository, SPEC, "replicas: 20", "replicas: 21")
    origin = f"file://{repository}"
    git(tmp_path, "clone", "-q", "--depth", "1", "--no-single-branch", origin, "shallow")
    done = gamekeeper("diff", "origin/main", cwd=tmp_path / "shallow")
    assert done.returncode == 1
    assert "fetch-depth: 0" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["diff"], "needs a commit to compare with", id="no base"),
        pytest.param(["diff", "main", "--live"], "takes no commit", id="a base and --live"),
        pytest.param(["diff", "no-such"], "no revision 'no-such'", id="an unknown base"),
    ],
)
def test_a_wrong_call_is_told_what_to_write(repository: Path, words: list[str], said: str) -> None:
    done = gamekeeper(*words, cwd=repository)
    assert done.returncode == 1
    assert said in done.stderr


def test_a_thousand_specs_are_compared(tmp_path: Path) -> None:
    made = fleet(tmp_path / "fleet")
    text = (made / SPEC).read_text()
    for number in range(1000):
        spec = text.replace("arena", f"game-{number}")
        (made / f"schedulers/game-{number}.yaml").write_text(spec)
    git(made, "add", "--all")
    git(made, "commit", "-qm", "a thousand")
    git(made, "switch", "-qc", "topic")
    for path in (made / "schedulers").glob("game-*.yaml"):
        path.write_text(path.read_text().replace("replicas: 2", "replicas: 3"))
    git(made, "commit", "-qam", "one more room each")
    done = gamekeeper("diff", "main", cwd=made)
    assert "0 to create, 1000 to update, 0 to delete" in done.stdout


def test_what_no_allowed_key_signed_is_held_before_it_is_merged(
    repository: Path, tmp_path: Path
) -> None:
    anna = Person.create(tmp_path, "anna")
    rules = ("--verify-commits", "strict", "--commit-signers", signers_file(tmp_path, anna))
    commit(repository, SPEC, "replicas: 20", "replicas: 21")
    done = gamekeeper("diff", "main", *rules, cwd=repository)
    assert done.returncode == 2, done.stderr
    assert "of HEAD is not signed" in done.stdout
    assert "none of it acts until: gamekeeper approve " in done.stdout
    key = ("-c", "gpg.format=ssh", "-c", f"user.signingkey={anna.key_file}")
    git(repository, *key, "commit", "-q", "--amend", "--no-edit", "-S")
    done = gamekeeper("diff", "main", *rules, cwd=repository)
    assert (done.returncode, "(unsigned)" in done.stdout) == (2, False)
    done = gamekeeper("diff", "main", "--verify-commits", "head", cwd=repository)
    assert (done.returncode, "has no keys" in done.stderr) == (1, True)


@pytest.mark.parametrize("replicas", ["21", "2"])
def test_a_trailer_is_offered_only_for_a_hash_that_a_hold_asks_for(
    repository: Path, tmp_path: Path, replicas: str
) -> None:
    anna = Person.create(tmp_path, "anna")
    signers = signers_file(tmp_path, anna)
    held = ("--verify-commits", "strict", "--commit-signers", signers)
    rules = ("--approval-signers", signers, *held)
    commit(repository, SPEC, "replicas: 20", f"replicas: {replicas}")
    # What holds it has a hash of its own, which no trailer approves.
    done = gamekeeper("diff", "main", *rules, cwd=repository)
    assert "of HEAD is not signed" in done.stdout, done.stderr
    assert "Gamekeeper-Approve" not in done.stdout
    key = ("-c", "gpg.format=ssh", "-c", f"user.signingkey={anna.key_file}")
    git(repository, *key, "commit", "-q", "--amend", "--no-edit", "-S")
    done = gamekeeper("diff", "main", *rules, cwd=repository)
    assert done.returncode == 2, done.stderr
    offered = "Gamekeeper-Approve: bd7085a350de" in done.stdout
    assert offered is (replicas == "2"), done.stdout


def test_a_secret_value_that_changed_is_shown_as_changed_and_no_more(tmp_path: Path) -> None:
    folder = fleet(tmp_path / "fleet")
    for which in ("old", "new"):
        file = folder / "schedulers/arena.yaml"
        head, ports, rest = file.read_text().partition("          ports:\n")
        value = canary("container value", which)
        variable = f"          env:\n            - {{name: LOBBY_TOKEN, value: {value}}}\n"
        file.write_text(head.partition("          env:\n")[0] + variable + ports + rest)
        git(folder, "commit", "-qam", f"the {which} token")
    for words in (("main~1", "main"), ("main~2", "main")):
        said = gamekeeper("diff", *words, cwd=folder)
        assert "*** (after)" in said.stdout, said.stderr
        assert MARK not in said.stdout + said.stderr


def masked(folder: Path) -> Iterator[str]:
    """Yield what `diff` says of a change of a ConfigMap, and of the making of it."""
    for words in (("main~1", "main"), ("main~2", "main")):
        said = gamekeeper(
            *("diff", *words, "--allow-kinds", "ConfigMap", "--output", "json"), cwd=folder
        )
        assert said.returncode == 2, said.stderr
        assert MARK not in said.stdout + said.stderr
        yield said.stdout


def test_entries_and_annotations_that_are_named_like_a_secret_are_not_shown(tmp_path: Path) -> None:
    folder = fleet(tmp_path / "fleet")
    (folder / "objects" / "arena").mkdir(parents=True)
    for which in ("old", "new"):
        value = canary("container value", which)
        game: Json = {"name": "game", "image": "registry.example/game:1"}
        game |= {"env": [{"name": "MYPWD", "value": value}], "args": [f"--dbpass={value}"]}
        template = {
            "metadata": {"annotations": {"example.org/token": value, "team": which}},
            "spec": {"containers": [game]},
        }
        asked = spec("arena", 2, objects="objects/arena", template=template)
        (folder / "schedulers" / "arena.yaml").write_text(asked)
        text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"
        text += f"data: {{db.password: {value}, motd: {which}}}\n"
        (folder / "objects" / "arena" / "configmap.yaml.j2").write_text(text)
        git(folder, "add", "--all")
        git(folder, "commit", "-qm", f"the {which} token")
    for said in masked(folder):
        assert said.count("*** (after)") == 4, said
        assert '"new"' in said, "what is no secret is shown"


def test_nothing_of_an_object_that_says_it_is_sensitive_is_shown(tmp_path: Path) -> None:
    folder = fleet(tmp_path / "fleet")
    (folder / "objects" / "arena").mkdir(parents=True)
    (folder / "schedulers" / "arena.yaml").write_text(spec("arena", 2, objects="objects/arena"))
    for which in ("old", "new"):
        metadata = 'metadata: {name: bans, annotations: {gamekeeper.dev/sensitive: "true"}}\n'
        text = f"apiVersion: v1\nkind: ConfigMap\n{metadata}"
        text += f"data: {{players: {canary('container value', which)}}}\n"
        (folder / "objects" / "arena" / "configmap.yaml.j2").write_text(text)
        git(folder, "add", "--all")
        git(folder, "commit", "-qm", f"the {which} list")
    assert all("*** (after)" in said for said in masked(folder))


def test_one_folder_of_a_repository_is_read_from_anywhere_in_it(repository: Path) -> None:
    environment = repository / "environments/eu"
    environment.mkdir(parents=True)
    for name in ("gamekeeper.yaml", "schedulers"):
        git(repository, "mv", name, f"environments/eu/{name}")
    git(repository, "commit", "-qm", "an environment")
    git(repository, "branch", "-f", "main", "HEAD")
    spec = f"environments/eu/{SPEC}"
    assert "there is no gamekeeper.yaml" in gamekeeper("validate", cwd=repository).stdout
    words, good = ("--path", "environments/eu"), "valid: 1 workload with 20 rooms"
    for place in ([], ["HEAD"]):
        valid = gamekeeper("validate", *place, *words, cwd=repository)
        assert (valid.returncode, valid.stdout.splitlines()[-1]) == (0, good)
    assert "name: arena" in gamekeeper("render", *words, cwd=repository).stdout
    commit(repository, spec, "replicas: 20", "replicas: many")
    found = gamekeeper("validate", *words, cwd=repository / "environments")
    assert (found.returncode, found.stdout.split(":")[0]) == (1, f"eu/{SPEC}")
    commit(repository, spec, "replicas: many", "replicas: 21")
    changed = gamekeeper("diff", "main", *words, "-o", "github", cwd=repository)
    assert changed.returncode == 2
    assert f"file={spec},line=" in changed.stdout
    missing = gamekeeper("validate", "--path", "environments/us", cwd=repository)
    assert missing.returncode == 1
    assert 'there is no folder "environments/us" in the repository' in missing.stdout
    refused = gamekeeper("validate", "--path", "../eu", cwd=repository)
    assert (refused.returncode, "--path" in refused.stderr) == (1, True)


def test_values_are_laid_over_specs_that_environments_share(repository: Path) -> None:
    values = "environments/eu.yaml"
    (repository / "environments").mkdir()
    head = "apiVersion: gamekeeper.dev/v1\nkind: Values\nspec:\n  workloads:\n"
    (repository / values).write_text(f"{head}    Scheduler/arena:\n      replicas: 30\n")
    git(repository, "add", "--all")
    git(repository, "commit", "-qm", "values")
    git(repository, "branch", "-f", "main", "HEAD")
    shared = gamekeeper("validate", cwd=repository).stdout.splitlines()[-1]
    own = gamekeeper("validate", "--values", values, cwd=repository).stdout.splitlines()[-1]
    assert (shared, own) == ("valid: 1 workload with 20 rooms", "valid: 1 workload with 30 rooms")
    commit(repository, values, "replicas: 30", "replicas: 33")
    changed = gamekeeper("diff", "main", "--values", values, "-o", "github", cwd=repository)
    assert (changed.returncode, f"file={values},line=6" in changed.stdout) == (2, True)
    assert gamekeeper("diff", "main", cwd=repository).returncode == 0
    commit(repository, values, "replicas: 33", "replicas: many")
    wrong = gamekeeper("validate", "--values", values, cwd=repository)
    assert (wrong.returncode, wrong.stdout.startswith(f"{values}:6:17: error")) == (1, True)
    missing = gamekeeper("validate", "--values", "environments/us.yaml", cwd=repository)
    assert (missing.returncode, "there is no such file" in missing.stdout) == (1, True)
    refused = gamekeeper("validate", "--values", "gamekeeper.yaml", cwd=repository)
    assert (refused.returncode, "is no file of values" in refused.stderr) == (1, True)
