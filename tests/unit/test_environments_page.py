"""docs/environments.md shows what the example has."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "good" / "one-fleet-in-two-environments" / "environments"


def test_its_values_are_those_of_the_example() -> None:
    page = (ROOT / "docs" / "environments.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```yaml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    text = (EXAMPLE / "eu-prod.yaml").read_text(encoding="utf-8")
    assert text.partition("\n")[2] == shown
