"""The page that says what a server takes, for people."""

from __future__ import annotations

import dpbandits as dpb
from tests.service.http.web import client_of
from tests.service.pages.test_dashboard import text_of


def test_the_page_of_routes_has_every_route_and_field_of_the_openapi_document() -> None:
    """And needs nothing of another server, which the page's own policy would forbid."""
    with dpb.open_store("memory:") as store:
        client = client_of(store)
        text, spec = text_of(client.get("/docs")), client.get("/openapi.json").json()
    assert "https://" not in text
    for path, verbs in spec["paths"].items():
        for verb in verbs:
            assert f"{verb.upper()} <code>{path}</code>" in text
    for name in spec["components"]["schemas"]["CreateBody"]["properties"]:
        assert f"<code>{name}</code>" in text
    assert "whole number, from 0, up to 10,000" in text
