"""A spec of ours that stands where nobody reads it is told of; files of others are not."""

import pytest

from reconciler.core.unread import MOST
from reconciler.model.findings import Severity
from tests.unit.core.reading import CONFIG, SPEC, read

FLEET = SPEC.replace("Scheduler", "Fleet").replace("  game: arena\n", "")
ELSEWHERE = CONFIG + "spec: {paths: [fleets/live, events.yaml]}\n"


def test_a_spec_beside_the_paths_is_told_of_with_its_line_and_what_to_do() -> None:
    reading = read({"schedulers/a.yaml": SPEC, "fleets/eu/duel.yaml": "# ours\n" + FLEET})

    assert [str(key) for key in reading.workloads] == ["Scheduler/arena"]
    (found,) = reading.findings
    assert (found.file, found.line, found.severity) == ("fleets/eu/duel.yaml", 3, Severity.WARNING)
    message = "this Fleet is not read: spec.paths of gamekeeper.yaml has only schedulers"
    assert found.message == message
    assert found.fix == "add fleets/eu to spec.paths, or move the file to where they say"


@pytest.mark.parametrize("quote", ["", "'", '"'])
def test_a_spec_at_the_top_is_told_of_by_its_own_name(quote: str) -> None:
    text = SPEC.replace("kind: Scheduler", f"kind: {quote}Scheduler{quote} # a room each")
    reading = read({"gamekeeper.yaml": ELSEWHERE, "fleets/live/a.yaml": FLEET, "b.yaml": text})

    (found,) = (each for each in reading.findings if each.rule == "unread")
    assert (found.file, found.fix.split()[1]) == ("b.yaml", "b.yaml")
    assert "has only fleets/live, events.yaml" in found.message


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param("fleets/agones.yaml", FLEET.replace("gamekeeper", "agones"), id="of others"),
        pytest.param("docs/a.yaml", "text: |\n  " + FLEET.replace("\n", "\n  "), id="quoted"),
        pytest.param("fleets/readme.txt", FLEET, id="no YAML"),
        pytest.param("env/values.yaml", CONFIG.replace("Config", "Values"), id="values"),
        pytest.param("objects/arena/fleet.yaml.j2", FLEET, id="a template"),
    ],
)
def test_what_is_no_spec_of_ours_is_nobodys_matter(path: str, text: str) -> None:
    assert read({"schedulers/a.yaml": SPEC, path: text}).findings == ()


def test_what_lies_beside_another_config_is_read_by_another_process() -> None:
    files = {"staging/gamekeeper.yaml": CONFIG, "staging/schedulers/b.yaml": SPEC}
    assert read({"schedulers/a.yaml": SPEC, **files}).findings == ()


def test_of_many_only_some_are_told() -> None:
    files = {f"fleets/{number}.yaml": FLEET for number in range(2 * MOST)}
    assert len(read({"schedulers/a.yaml": SPEC, **files}).findings) == MOST


def test_the_paths_that_strangers_wrote_are_repeated_short_and_masked() -> None:
    paths = ["schedulers", "password=hunter2hunter2", "x" * 480, *(f"p{n}" for n in range(90))]
    config = f"{CONFIG}spec: {{paths: [{', '.join(paths)}]}}\n"
    reading = read({"gamekeeper.yaml": config, "schedulers/a.yaml": SPEC, "fleets/b.yaml": FLEET})

    (found,) = (each for each in reading.findings if each.rule == "unread")
    assert "hunter2" not in found.message
    assert "has only schedulers, " in found.message
    assert found.message.endswith(" and 88 more")
    assert len(found.message) < 300
