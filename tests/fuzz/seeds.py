"""The real inputs that made ones begin with: our examples, and the corpora of what went wrong."""

from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_SEED_BYTES = 30_000
"""A seed of a megabyte only makes every case slow."""


def files(*patterns: str, is_seed: Callable[[bytes], bool] = bool) -> list[bytes]:
    """Return the contents of files of the repository, none of them too long."""
    found = (path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file())
    texts = (path.read_bytes() for path in found if path.stat().st_size <= MOST_SEED_BYTES)
    return sorted({text for text in texts if is_seed(text)})


SPECS = files(
    *("examples/*/*/**/*.yaml", "tests/corpora/yaml/*/*.yaml", "tests/golden/edits/*/before.yaml"),
    *("tests/golden/edit_shapes/**/*.yaml", "tests/golden/cases/*/**/*.yaml"),
)
CONFIGS = [text for text in SPECS if b"kind: Config" in text]
"""Each a `gamekeeper.yaml`."""
TEMPLATES = files("templates/*.j2", "tests/corpora/jinja/*/*.j2", "examples/**/*.j2")
