"""The OpenAPI 3.1 document of all paths, made from the table that drives the router."""

import re

from reconciler.adapters.http.ask import JSON, TEXT
from reconciler.adapters.http.routes import ROUTES, Route
from reconciler.adapters.http.shapes import SCHEMAS
from reconciler.model.refs import Json
from reconciler.room_ports import Way

_PARAMETER = re.compile(r"\{(\w+)\}")
_TAGS: dict[Way, str] = {
    "maestro": "Maestro's paths: games written for Maestro run unchanged",
    "collections": "The Azure game-server collections' paths: their games run unchanged",
    "v1": "Gamekeeper's own paths",
}
_QUERY = {
    "workload": "only rooms of this workload, as kind/namespace/name",
    "state": "only rooms in one of these states, with commas between",
    "available": "true: only rooms that players may be sent to; false: only the others",
    "code": "the room's API_SERVER_CODE; for /create and /delete an administrator's token",
    "name": "the name of the Fleet",
}
_NOES = {
    400: "what was sent means nothing",
    401: "the credential is missing or unknown",
    403: "the credential is for something else",
    404: "there never was such a room, or it has no address yet",
    409: "Git says something else, or takes no commit",
    410: "the room is gone, and its name never comes back",
    413: "more than 16 KiB",
    429: "too many wrong credentials from this address",
    431: "more than 16 KiB of headers",
    503: "ask again after Retry-After: this process does not lead, or the cluster is down",
}


def document() -> Json:
    """Return the document."""
    paths: Json = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Gamekeeper: rooms",
            "version": "v1",
            "description": "What rooms say of themselves, and what may be seen of them.",
        },
        "tags": [{"name": way, "description": text} for way, text in _TAGS.items()],
        "paths": paths,
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "code": {"type": "apiKey", "in": "query", "name": "code"},
            },
        },
        "security": [{"token": []}, {"code": []}, {}],
    }


def _operation(route: Route) -> Json:
    told: Json = {
        "operationId": route.operation,
        "tags": [route.way],
        "summary": route.summary,
        "responses": _responses(route),
    }
    if route.minds_query:
        told["description"] = "Any other query parameter, and one that comes twice, is refused: 400"
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _PARAMETER.findall(route.path)
    ] + [
        {"name": name, "in": "query", "schema": {"type": "string"}, "description": _QUERY[name]}
        for name in route.query
    ]
    if parameters:
        told["parameters"] = parameters
    if route.body:
        told["requestBody"] = {"required": True, "content": _content(JSON, route.body)}
    return told


def _responses(route: Route) -> Json:
    found: Json = {
        "200": {
            "description": "done",
            "content": _content(route.content_type, route.answer),
        }
    }
    if route.always:
        return found
    for status, text in _NOES.items():
        found[str(status)] = {"description": text, "content": _refusal(route.way)}
    # Who is too slow is hung up on, with no word more.
    found["408"] = {"description": "the request did not come whole in time"}
    return found


def _refusal(way: Way) -> Json:
    if way == "collections":
        return _content(TEXT, "")
    return _content(JSON, "MaestroError" if way == "maestro" else "Error")


def _content(content_type: str, schema: str) -> Json:
    named: Json = {"$ref": f"#/components/schemas/{schema}"} if schema else {"type": "string"}
    return {content_type.partition(";")[0]: {"schema": named}}
