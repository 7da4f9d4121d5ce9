"""POST: create objects."""

from __future__ import annotations

from reconciler.sandbox import bodies
from reconciler.sandbox.requests import Response
from reconciler.sandbox.verbs import write
from reconciler.sandbox.verbs.write import Write
from reconciler.sandbox.world import Call


def create(call: Call) -> Response:
    """Create one object. Raises Refused."""
    bodies.check_media(call.request)
    options = call.options("CreateOptions")
    body = bodies.parse(call.request, call.kind)
    value, told = write.decoded(call, body, options)
    write.check_place(call, value)
    return write.create(Write(call, options, told), value)
