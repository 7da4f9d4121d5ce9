"""Frozen dataclasses and named tuples to JSON and back, by their type hints: what crosses to a
worker and returns.

Reading checks every type on the way, since a worker that ran strangers' text may say anything.
"""

import base64
import types
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin

from reconciler.adapters.compiler.frames import Garbled
from reconciler.model.shapes import fields_of, is_record

T = TypeVar("T")
_Coder = Callable[[Any], Any]


def encode(shape: type[T], value: T) -> Any:
    """Return `value`, which is of type `shape`, as JSON values."""
    return _coder_of(_encoder, shape)(value)


def decode(shape: type[T], value: Any) -> T:
    """Return what `encode` made JSON of.

    Raises Garbled where `value` is not of that shape.
    """
    try:
        decoded: T = _coder_of(_decoder, shape)(value)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise Garbled(f"no {shape.__name__}: {error}") from error
    return decoded


def _coder_of(maker: Callable[[Any], _Coder], shape: Any) -> _Coder:
    return maker(shape)


@cache
def _encoder(shape: Any) -> _Coder:
    origin, inner = get_origin(shape), get_args(shape)
    if is_record(shape):
        parts = [(name, _encoder(hint)) for name, hint in fields_of(shape)]
        return lambda value: [coder(getattr(value, name)) for name, coder in parts]
    if origin is types.UnionType:
        one = _encoder(_optional(inner))
        return lambda value: None if value is None else one(value)
    if origin in (tuple, frozenset):
        item = _encoder(inner[0])
        return lambda value: [item(one) for one in value]
    if _is_map(origin) and inner[0] is not str:
        key, entry = _encoder(inner[0]), _encoder(inner[1])
        return lambda value: [[key(name), entry(one)] for name, one in value.items()]
    if _is_map(origin):
        entry = _encoder(inner[1])
        return lambda value: {name: entry(one) for name, one in value.items()}
    if shape is bytes:
        return lambda value: base64.b64encode(value).decode()
    return lambda value: value


@cache
def _decoder(shape: Any) -> _Coder:
    origin, inner = get_origin(shape), get_args(shape)
    if is_record(shape):
        return _record_decoder(shape)
    if origin is types.UnionType:
        one = _decoder(_optional(inner))
        return lambda value: None if value is None else one(value)
    if origin in (tuple, frozenset):
        item = _decoder(inner[0])
        return lambda value: origin(item(one) for one in _of(list, value))
    if origin is Literal:
        return lambda value: inner[inner.index(value)]
    if _is_map(origin) and inner[0] is not str:
        key, entry = _decoder(inner[0]), _decoder(inner[1])
        return lambda value: {key(name): entry(one) for name, one in _of(list, value)}
    if _is_map(origin):
        entry = _decoder(inner[1])
        return lambda value: {name: entry(one) for name, one in _of(dict, value).items()}
    return _scalar_decoder(shape)


def _scalar_decoder(shape: Any) -> _Coder:
    if shape is Any:
        return lambda value: value
    if shape is bytes:
        return lambda value: base64.b64decode(_of(str, value), validate=True)
    if shape is float:
        return lambda value: value if type(value) is int else _of(float, value)
    if issubclass(shape, Enum):
        return lambda value: shape(value)
    return lambda value: _of(shape, value)


def _record_decoder(shape: Any) -> _Coder:
    parts = [_decoder(hint) for _, hint in fields_of(shape)]

    def decoded(value: Any) -> Any:
        listed = _of(list, value)
        return shape(*(coder(one) for coder, one in zip(parts, listed, strict=True)))

    return decoded


def _of(kind: type[T], value: Any) -> T:
    if type(value) is not kind:
        raise TypeError(f"{kind.__name__} expected, {type(value).__name__} found")
    return value


def _optional(inner: tuple[Any, ...]) -> Any:
    """Return X of `X | None`, the only union that the model has."""
    (one,) = (item for item in inner if item is not types.NoneType)
    return one


def _is_map(origin: Any) -> bool:
    return isinstance(origin, type) and issubclass(origin, Mapping)
