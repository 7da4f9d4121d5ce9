"""Check the labels and annotations that users write: Kubernetes' rules, and what is ours."""

from collections.abc import Collection, Iterator

from reconciler.core.mistakes import Mistake, shown
from reconciler.core.pod_parts import child
from reconciler.kube import names
from reconciler.model.refs import Json

_PREFIX = "gamekeeper.dev"
KEY = (
    "a key must be at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both "
    "ends, after an optional domain and one '/'"
)
VALUE = (
    "a label's value must be at most 63 letters, digits, '-', '_' and '.', with a letter or digit "
    "at both ends"
)
SUCH_A_KEY = "write it like example.com/map-pool"
SUCH_A_VALUE = 'write it like "eu-west"'


def check_metadata(metadata: Json, settable: Collection[str] = ()) -> Iterator[Mistake]:
    """Yield the mistakes of labels and annotations; paths begin inside the metadata.

    `settable` are those annotations of ours that people set here.
    """
    for part in ("labels", "annotations"):
        for name, value in child(metadata, part).items():
            if part == "annotations" and name in settable:
                continue
            at = (part, name)
            prefix = name.rpartition("/")[0]
            problem = names.label_key_problem(name)
            if prefix == _PREFIX or prefix.endswith(f".{_PREFIX}"):
                message = f"{part} of {_PREFIX} are Gamekeeper's own"
                yield Mistake(at, message, "use a prefix of yours", "reserved-property", True)
            elif problem is not None:
                yield Mistake(at, KEY, SUCH_A_KEY, "name", at_key=True)
            if part == "labels" and is_bad_value(value):
                yield Mistake(at, f"{VALUE}, not {shown(value)}", SUCH_A_VALUE, "name")


def is_bad_value(value: object) -> bool:
    """Whether a text is no value of a label."""
    return isinstance(value, str) and names.label_value_problem(value) is not None
