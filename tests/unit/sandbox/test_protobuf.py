"""Reading the protobuf that kubectl sends."""

import pytest

from reconciler.sandbox import protobuf


def _field(number: int, content: bytes | int) -> bytes:
    if isinstance(content, int):
        return bytes([number << 3, content])
    return bytes([number << 3 | 2, len(content)]) + content


def _body(kind: str, raw: bytes) -> bytes:
    named = _field(1, b"v1") + _field(2, kind.encode())
    return protobuf.MAGIC + _field(1, named) + _field(2, raw)


def _entry(key: bytes, value: bytes) -> bytes:
    return _field(1, key) + _field(2, value)


METADATA = _field(1, _field(1, b"m") + _field(11, _entry(b"a", b"b")))


@pytest.mark.parametrize(
    ("kind", "raw", "value"),
    [
        pytest.param(
            "Namespace", METADATA, {"metadata": {"name": "m", "labels": {"a": "b"}}}, id="metadata"
        ),
        pytest.param(
            "ConfigMap",
            _field(2, _entry(b"k", b"v")) + _field(3, _entry(b"b", b"\x00")) + _field(4, 1),
            {"data": {"k": "v"}, "binaryData": {"b": "AA=="}, "immutable": True},
            id="maps of text and of bytes",
        ),
        pytest.param(
            "PodDisruptionBudget",
            _field(2, _field(1, _field(1, 1) + _field(2, 0) + _field(3, b"50%"))),
            {"spec": {"minAvailable": "50%"}},
            id="a share",
        ),
        pytest.param(
            "PodDisruptionBudget",
            _field(2, _field(1, _field(1, 0) + _field(2, 7) + _field(3, b""))),
            {"spec": {"minAvailable": 7}},
            id="a number",
        ),
        pytest.param(
            "SelfSubjectAccessReview",
            _field(2, _field(1, _field(2, b"get") + _field(5, b"pods"))),
            {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}},
            id="a review",
        ),
    ],
)
def test_messages_become_the_json_they_stand_for(
    kind: str, raw: bytes, value: dict[str, object]
) -> None:
    assert protobuf.decode(_body(kind, raw)) == {"apiVersion": "v1", "kind": kind, **value}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"{}", id="JSON"),
        pytest.param(_body("Deployment", b""), id="a kind that is not read"),
        pytest.param(protobuf.MAGIC + b"\x0a\xff", id="a message that is cut short"),
    ],
)
def test_what_cannot_be_read_is_said(body: bytes) -> None:
    with pytest.raises(protobuf.Undecodable):
        protobuf.decode(body)
