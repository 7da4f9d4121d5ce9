"""The alerts of deploy/monitoring.yaml, played by Prometheus' own `promtool`."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.monitoring.install import ensure_programs

pytestmark = pytest.mark.real

DEPLOY = Path(__file__).parents[2] / "deploy"
_, RULE = yaml.safe_load_all((DEPLOY / "monitoring.yaml").read_text())
GROUPS = {"groups": RULE["spec"]["groups"]}
ALERTS = {each["alert"]: each for each in GROUPS["groups"][0]["rules"]}
LED, STANDBY = '{namespace="gamekeeper",pod="a"', '{namespace="gamekeeper",pod="b"'
SOUND = {
    f"gamekeeper_leader{LED}}}": "1x40",
    f"gamekeeper_leader{STANDBY}}}": "0x40",
    # promtool's time begins at 0: each look was a moment ago.
    f"gamekeeper_last_success_timestamp_seconds{LED}}}": "0+60x40",
    f"gamekeeper_deaf{LED}}}": "0x40",
    f'gamekeeper_held{LED},workload="Scheduler/arena/arena",kind="occupied"}}': "1x40",
    f'gamekeeper_watch_age_seconds{LED},kind="Pod"}}': "30x40",
    f'gamekeeper_watch_age_seconds{STANDBY},kind="Pod"}}': "30x40",
    f'gamekeeper_room_removals_total{LED},cause="scale-in"}}': "0+3x40",
    f'gamekeeper_room_removals_total{LED},cause="deadline"}}': "4x40",
    f"gamekeeper_intent_age_seconds{LED}}}": "60x40",
    f'gamekeeper_room_flips_total{LED},result="done"}}': "0+9x40",
    f'gamekeeper_room_flips_total{LED},result="contested"}}': "1x40",
    f"gamekeeper_defects_total{LED}}}": "2x40",
}
"""Two replicas for 40 minutes, one of which leads."""
FAULTS = {
    "GamekeeperNobodyLeads": {f"gamekeeper_leader{LED}}}": "1x20 0x20"},
    "GamekeeperGitNotTakenIn": {
        f"gamekeeper_last_success_timestamp_seconds{LED}}}": "0+60x20 1200x20"
    },
    "GamekeeperHeld": {
        f'gamekeeper_held{LED},workload="Scheduler/arena/arena",kind="finding"}}': "1x40"
    },
    "GamekeeperDeaf": {f"gamekeeper_deaf{LED}}}": "0x20 1x20"},
    "GamekeeperWatchSilent": {f'gamekeeper_watch_age_seconds{STANDBY},kind="Pod"}}': "0+60x40"},
    "GamekeeperPlayersThrownOut": {
        f'gamekeeper_room_removals_total{LED},cause="deadline"}}': "_x30 1x10"
    },
    "GamekeeperCountsNotInGit": {f"gamekeeper_intent_age_seconds{LED}}}": "0+60x40"},
    "GamekeeperContested": {f'gamekeeper_room_flips_total{LED},result="contested"}}': "1x30 2x10"},
    "GamekeeperDefect": {f"gamekeeper_defects_total{LED}}}": "2x32 3x10"},
}
AT = "35m"


def played(series: Mapping[str, str], firing: str, folder: Path) -> str:
    """Return what promtool objects to: of all alerts `firing` alone fires, "" none."""
    (folder / "rules.yaml").write_text(yaml.safe_dump(GROUPS))
    values = [{"series": name, "values": text} for name, text in series.items()]
    # That one fires is told by its number, for labels and words are those of the file.
    checks = [
        {
            "expr": f'count(ALERTS{{alertname="{name}",alertstate="firing"}})',
            "eval_time": AT,
            "exp_samples": [{"labels": "{}", "value": 1}] if name == firing else [],
        }
        for name in ALERTS
    ]
    test: dict[str, Any] = {"interval": "1m", "input_series": values, "promql_expr_test": checks}
    whole = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": [test]}
    (folder / "tests.yaml").write_text(yaml.safe_dump(whole))
    _, tool = ensure_programs()
    done = subprocess.run(
        [str(tool), "test", "rules", "tests.yaml"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_of_a_sound_pair_nothing_is_told(tmp_path: Path) -> None:
    assert played(SOUND, "", tmp_path) == ""


def test_there_is_a_fault_for_every_alert() -> None:
    assert FAULTS.keys() == ALERTS.keys()


@pytest.mark.parametrize("alert", FAULTS)
def test_a_fault_is_told_by_its_alert_and_by_no_other(alert: str, tmp_path: Path) -> None:
    assert played({**SOUND, **FAULTS[alert]}, alert, tmp_path) == ""


def test_no_page_at_all_is_nobody_who_leads(tmp_path: Path) -> None:
    assert played({}, "GamekeeperNobodyLeads", tmp_path) == ""
