"""What is started often starts light: a command, the compiler's process, the one that runs git.

Each of these packages costs a good part of what such a start takes, and is not needed there.
"""

import subprocess
import sys

import pytest

SHOWN = "import sys, {module}; print(*{{name.partition('.')[0] for name in sys.modules}})"


@pytest.mark.parametrize(
    ("module", "unneeded"),
    [
        ("reconciler.adapters.compiler.compiler", {"jsonschema", "jinja2", "git"}),
        ("reconciler.adapters.compiler.nursery", {"asyncio", "git"}),
        ("reconciler.adapters.git.child", {"asyncio", "yaml", "jsonschema"}),
        ("reconciler.cli.validate", {"jsonschema", "jinja2", "git"}),
    ],
)
def test_what_is_not_needed_is_not_imported(module: str, unneeded: set[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SHOWN.format(module=module)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert unneeded & set(done.stdout.split()) == set()
