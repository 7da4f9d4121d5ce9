"""Hold a value against its schema and tell every difference in plain words."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from itertools import groupby, islice
from typing import Any

from jsonschema import ValidationError
from jsonschema.protocols import Validator

from reconciler.core import formats
from reconciler.core.mistakes import MOST_MISTAKES, Mistake, likely, shown, word
from reconciler.core.places import Path
from reconciler.core.schemas import validator_of
from reconciler.model.refs import Json

_WORDS = {
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "array": "a list",
    "object": "a mapping of properties",
    "null": "nothing",
}
_HOW = {
    "boolean": "write true or false",
    "integer": "write a plain number",
    "number": "write a plain number",
    "string": "write it as one text",
    "array": "start each item on a line of its own with '- '",
    "object": "write its properties below it, each on a line of its own",
    "null": "take it out",
}
_SWITCHES = {"yes": "true", "on": "true", "True": "true", "TRUE": "true", "y": "true"} | {
    "no": "false", "off": "false", "False": "false", "FALSE": "false", "n": "false"
}  # fmt: skip
_MOST_LISTED = 24
_MOST_OFFERED = 3
_LONGEST_EXAMPLE = 100
_ALONE = ("type", "oneOf")
_TEXT = ("minLength", "maxLength", "pattern")
_RANGE = ("minimum", "maximum")


def check(validator: Validator, value: Any, at: Path = ()) -> list[Mistake]:
    """Return the first ways in which a value that stands at `at` is not what its schema says."""
    # One by one: what a hostile document gets wrong beyond the bound is never looked at.
    return list(islice(_mistakes(validator, value, at), MOST_MISTAKES))


def _mistakes(validator: Validator, value: Any, at: Path) -> Iterator[Mistake]:
    errors = validator.iter_errors(value)
    for path, group in groupby(errors, key=lambda error: tuple(error.absolute_path)):
        for error in _telling(list(group)):
            mistake = _WORDING.get(str(error.validator), _otherwise)(error, (*at, *path))
            yield mistake if mistake.fix else replace(mistake, fix=_such(error, mistake.path))


def _such(error: ValidationError, path: Path) -> str:
    """Say what to write where nobody can tell what was meant: as the schema's example has it."""
    schema = _schema(error)
    for example in schema.get("examples", ())[:1]:
        text = json.dumps(example, ensure_ascii=False)
        if len(text) <= _LONGEST_EXAMPLE:
            named = path and isinstance(path[-1], str)
            return (
                f"write it like {word(str(path[-1]))}: {text}" if named else f"write it like {text}"
            )
    if error.validator == "type":
        wanted = _wanted(error)
        kinds = [wanted] if isinstance(wanted, str) else wanted
        return _HOW[kinds[0]]
    if error.validator == "maxLength":
        return f"shorten it to {error.validator_value} characters"
    return f"write {schema.get('x-plain', 'some text')}"


def _telling(errors: list[ValidationError]) -> list[ValidationError]:
    """Choose what is worth telling of one value: a wrong type says all, one word on a text does."""
    for error in errors:
        if error.validator in _ALONE:
            ranges = [one for one in error.context or () if one.validator in _RANGE]
            return ranges or [error]
    texts = [error for error in errors if error.validator in _TEXT]
    return [error for error in errors if error not in texts[1:]]


def _unknown(error: ValidationError, path: Path) -> Mistake:
    properties, value = _schema(error).get("properties", {}), _value(error)
    near = likely(path[-1], properties.keys() - value.keys())
    known = sorted(properties)
    if near is not None:
        fix = f"did you mean {shown(near)}?"
    elif known and len(known) <= _MOST_LISTED:
        fix = f"known here: {', '.join(known)}"
    else:
        fix = "take it out"
    return Mistake(path, "unknown property", fix, "unknown-property", at_key=True)


def _missing(error: ValidationError, path: Path) -> Mistake:
    *around, name = path
    examples = _schema(error).get("properties", {}).get(name, {}).get("examples")
    fix = f"add {name}: {json.dumps(examples[0])}" if examples else f"add {name}:"
    return Mistake(tuple(around), f"{name} is missing", fix, "missing-property", at_key=True)


def _empty_item(_: ValidationError, path: Path) -> Mistake:
    return Mistake(path, "a list has no empty items", "take the '-' out", "type")


def _repeated(error: ValidationError, path: Path) -> Mistake:
    message = f"{shown(error.instance)} stands in the list twice"
    return Mistake(path, message, "keep one", "duplicate")


def _too_few(error: ValidationError, path: Path) -> Mistake:
    return Mistake(path, f"must have at least {_number(error)} items", "add one", "length")


def _too_many(error: ValidationError, path: Path) -> Mistake:
    message = f"must have at most {_number(error)} items, not {len(_value(error))}"
    return Mistake(path, message, "take some out", "length")


def _too_small(error: ValidationError, path: Path) -> Mistake:
    least = _number(error)
    message = f"must be at least {least}, not {error.instance}"
    return Mistake(path, message, f"write {least} or more", "range")


def _too_large(error: ValidationError, path: Path) -> Mistake:
    most = _number(error)
    message = f"must be at most {most}, not {error.instance}"
    return Mistake(path, message, f"write {most} or less", "range")


def _number(error: ValidationError) -> str:
    return f"{error.validator_value:.15g}"


def _no_such_text(error: ValidationError, path: Path) -> Mistake:
    schema, value = _schema(error), _value(error)
    wanted = schema.get("x-plain")
    if wanted is None and error.validator == "minLength":
        wanted = "text that is not empty"
    elif wanted is None:
        most = schema.get("maxLength")
        wanted = f"text of at most {most} characters" if most else "written another way"
    fix = formats.mended(value, validator_of(schema).is_valid)
    return Mistake(path, f"must be {wanted}, not {shown(value)}", fix, "text")


def _wrong_form(error: ValidationError, path: Path) -> Mistake:
    kind = str(error.validator_value)
    sentence, fix = formats.problem_of(kind, error.instance) or ("", "")
    return Mistake(path, f"{sentence}, not {shown(error.instance)}", fix, kind)


def _no_choice(error: ValidationError, path: Path) -> Mistake:
    wanted = _schema(error).get("x-plain", "of one of the types that the schema names")
    return Mistake(path, f"must be {wanted}, not {shown(error.instance)}", "", "type")


def _not_listed(error: ValidationError, path: Path) -> Mistake:
    wanted, value = _wanted(error), _value(error)
    known = (
        [one for one in wanted if one not in ("", None)] if error.validator == "enum" else [wanted]
    )
    listed = ", ".join(str(one) for one in known)
    near = likely(value, known)
    message = f"must be {listed}" if len(known) == 1 else f"must be one of {listed}"
    fix = f"did you mean {shown(near)}?" if near and near != value else ""
    if not fix:
        offered = " or ".join(str(one) for one in known)
        fix = f"write {offered}" if len(known) <= _MOST_OFFERED else "write one of them"
    return Mistake(path, f"{message}, not {shown(value)}", fix, "enum")


def _otherwise(error: ValidationError, path: Path) -> Mistake:
    # Only a policy of others has a schema with keywords that we have no words for.
    wanted = _schema(error).get("x-plain", f"what its schema says ({error.validator})")
    return Mistake(path, f"must be {wanted}, not {shown(_value(error))}", "", "schema")


def _wrong_type(error: ValidationError, path: Path) -> Mistake:
    named = _wanted(error)
    kinds = sorted({named} if isinstance(named, str) else {*named} - {"null"})
    wanted = " or ".join(_WORDS[kind] for kind in kinds)
    value = error.instance
    # A fraction where no number belongs may be a secret in the wrong notation: it is not repeated.
    odd = "integer" in kinds and isinstance(value, float)
    what = shown(value) if odd or isinstance(value, bool) else _what(value, kinds)
    return Mistake(path, f"must be {wanted}, not {what}", _type_fix(kinds, value), "type")


def _what(value: Any, wanted: Collection[str]) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    # The value itself is not repeated: it may be a secret in the wrong notation, or in the place of
    # what names one (`valueFrom: hunter2`). What was meant for a number or a switch is neither.
    if isinstance(value, str):
        plain = len(value) <= 20 and not {"integer", "number", "boolean"}.isdisjoint(wanted)
        return f"the text {shown(value)}" if plain else "text"
    return "a number"


def _type_fix(kinds: list[str], value: Any) -> str:
    if kinds == ["string"] and isinstance(value, int | float):
        return "put it in quotes"
    if "integer" in kinds and isinstance(value, float):
        return formats.whole(value)
    if "boolean" in kinds and isinstance(value, str):
        return f"write {_SWITCHES.get(value, 'true or false')} without quotes"
    if set(kinds) <= {"integer", "number"} and isinstance(value, str):
        return _number_fix(value)
    return _HOW["array"] if kinds == ["array"] else ""


def _number_fix(text: str) -> str:
    bare = text.replace("_", "").lstrip("+").lstrip("0") or "0"
    if len(bare) > 18 or not (bare.isascii() and bare.isdigit()):
        return "write a plain number"
    if re.fullmatch("0[0-7]+", text) and bare != "0":
        return f"write {bare}, or {int(text, 8)} if octal was meant"
    return f"write {bare}"


def _schema(error: ValidationError) -> Json:
    return error.schema if isinstance(error.schema, dict) else {}


def _value(error: ValidationError) -> Any:
    return error.instance


def _wanted(error: ValidationError) -> Any:
    return error.validator_value


_WORDING: Mapping[str, Callable[[ValidationError, Path], Mistake]] = {
    "additionalProperties": _unknown,
    "const": _not_listed,
    "enum": _not_listed,
    "format": _wrong_form,
    "items": _empty_item,
    "maxItems": _too_many,
    "maxLength": _no_such_text,
    "maximum": _too_large,
    "minItems": _too_few,
    "minLength": _no_such_text,
    "minimum": _too_small,
    "oneOf": _no_choice,
    "pattern": _no_such_text,
    "required": _missing,
    "type": _wrong_type,
    "uniqueItems": _repeated,
}
