"""What a server takes and answers, for people: its OpenAPI document as rows of a page."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

WORDS = {"string": "text", "integer": "whole number", "boolean": "true or false", "null": "null"}
ENDS = {
    "minimum": "from {}",
    "exclusiveMinimum": "above {}",
    "maximum": "up to {}",
    "exclusiveMaximum": "below {}",
    "maxLength": "at most {} characters",
    "maxItems": "at most {}",
}

ApiSpec = Mapping[str, Any]


class FieldShown(NamedTuple):
    """A field of a body, or a parameter of an address."""

    name: str
    kind: str
    required: bool


class RouteShown(NamedTuple):
    """says: what its body is for. fields: of its body, and parameters after the question mark."""

    method: str
    path: str
    says: str
    fields: tuple[FieldShown, ...]


def routes_of(spec: ApiSpec) -> list[RouteShown]:
    """Every route of an OpenAPI document, in its order."""
    return [
        route_shown(spec, method.upper(), path, route)
        for path, routes in spec["paths"].items()
        for method, route in routes.items()
    ]


def route_shown(spec: ApiSpec, method: str, path: str, route: ApiSpec) -> RouteShown:
    asked = [each for each in route.get("parameters", ()) if each["in"] == "query"]
    fields = [field_shown(spec, each["name"], each["schema"], each["required"]) for each in asked]
    sent = route.get("requestBody", {}).get("content", {}).get("application/json")
    if sent is None:
        return RouteShown(method, path, "", tuple(fields))
    body = schema_behind(spec, sent["schema"])
    fields += shown_fields(spec, body)
    says = " ".join(str(body.get("description", kind_text(spec, body))).split())
    return RouteShown(method, path, says, tuple(fields))


def shown_fields(spec: ApiSpec, body: ApiSpec) -> Iterator[FieldShown]:
    """Of an object its fields; of a list of objects theirs."""
    if body.get("type") == "array":
        body = schema_behind(spec, body["items"])
    needed = body.get("required", ())
    for name, schema in body.get("properties", {}).items():
        yield field_shown(spec, name, schema, name in needed)


def field_shown(spec: ApiSpec, name: str, schema: ApiSpec, required: bool) -> FieldShown:
    return FieldShown(name, kind_text(spec, schema), required)


def schema_behind(spec: ApiSpec, schema: ApiSpec) -> ApiSpec:
    """What a reference stands for."""
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    found: ApiSpec = spec["components"]["schemas"][name] if name else schema
    return found


def kind_text(spec: ApiSpec, schema: ApiSpec) -> str:
    """A schema in words.

    >>> kind_text({}, {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]})
    'whole number, from 1, or null'
    """
    schema = schema_behind(spec, schema)
    several = schema.get("anyOf") or schema.get("oneOf")
    if several:
        kinds = list(dict.fromkeys(kind_text(spec, each) for each in several))
        return (", or " if any("," in kind for kind in kinds) else " or ").join(kinds)
    if "enum" in schema or "const" in schema:
        return " or ".join(f'"{each}"' for each in schema.get("enum", [schema.get("const")]))
    kind = str(schema.get("type", "any value"))
    if kind == "array":
        kind = f"list of ({kind_text(spec, schema.get('items', {}))})"
    elif kind == "object" and "properties" in schema:
        inside = ", ".join(each.name for each in shown_fields(spec, schema))
        kind = f"object with {inside}"
    ends = [text.format(f"{schema[key]:,.12g}") for key, text in ENDS.items() if key in schema]
    return ", ".join([WORDS.get(kind, kind), *ends])
