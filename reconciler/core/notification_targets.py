"""The file of the targets of notifications: read strictly, every mistake with its place."""

from collections.abc import Iterator
from dataclasses import replace

from jsonschema.protocols import Validator

from reconciler.core import schema_check
from reconciler.core.egress import place_of
from reconciler.core.mistakes import Mistake, shown
from reconciler.core.yaml_strict import parse_file
from reconciler.model.findings import Finding
from reconciler.model.notifications import Form, Target, Topic
from reconciler.model.refs import Json

_FORMS = tuple(form.value for form in Form)


def targets_of(
    file: str, data: bytes, schema: Validator
) -> tuple[tuple[Target, ...], tuple[Finding, ...]]:
    """Return the targets of a file, and what is wrong with it: then there are none."""
    parsed = parse_file(file, data)
    found = [finding for document in parsed.documents for finding in document.findings]
    found += [parsed.unreadable] if parsed.unreadable else []
    if not found and len(parsed.documents) != 1:
        message = f"one document is wanted, not {len(parsed.documents)}"
        found.append(Finding(file, 0, 0, "", message, "write kind: Notifications", "documents"))
    if found:
        return (), tuple(found)
    document = parsed.documents[0]
    mistakes = schema_check.check(schema, document.value)
    if not mistakes:
        mistakes = list(_mistakes(document.value["spec"]["targets"]))
    if mistakes:
        return (), tuple(document.finding(mistake) for mistake in mistakes)
    return tuple(_target(entry) for entry in document.value["spec"]["targets"]), ()


def _mistakes(targets: list[Json]) -> Iterator[Mistake]:
    """Yield what the schema cannot say."""
    names: set[str] = set()
    for index, entry in enumerate(targets):
        at = ("spec", "targets", index)
        if entry["name"] in names:
            message = f"{shown(entry['name'])} stands in the file twice"
            yield Mistake((*at, "name"), message, "give each a name of its own", "duplicate")
        names.add(entry["name"])
        forms = [form for form in _FORMS if form in entry]
        if len(forms) != 1:
            yield Mistake(at, "a target has either webhook or slack", "write one of them", "form")
            continue
        (form,) = forms
        yield from (replace(each, path=(*at, form, *each.path)) for each in _unsaid(entry[form]))


def _unsaid(spec: Json) -> Iterator[Mistake]:
    for name in ("urlFile", "secretFile"):
        if "://" in spec.get(name, ""):
            # Not shown: who pastes the secret itself here would read it in a log.
            message = "this is an address, and the path of a file is wanted"
            yield Mistake((name,), message, "put it into a file, and write its path", "file")
    given = [name for name in ("url", "urlFile") if spec.get(name)]
    if len(given) != 1:
        yield Mistake((), "one address is wanted", "write urlFile: and the file's path", "address")
    elif given == ["url"] and place_of(spec["url"]) is None:
        # Not shown: it may hold a secret after all.
        message = "this is no address that is asked"
        fix = "write https://hooks.example.com/path, without a user"
        yield Mistake(("url",), message, fix, "address")


def _target(entry: Json) -> Target:
    form = Form.WEBHOOK if "webhook" in entry else Form.SLACK
    spec = entry[form.value]
    return Target(
        name=entry["name"],
        form=form,
        topics=frozenset(Topic(event) for event in entry.get("events", Topic)),
        workloads=tuple(entry.get("workloads", ())),
        url=spec.get("url", ""),
        url_file=spec.get("urlFile", ""),
        secret_file=spec.get("secretFile", ""),
        give_up_seconds=3600.0 * entry.get("giveUpHours", 6),
    )
