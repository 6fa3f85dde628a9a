"""Routes that look: functions of public tables only."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from fastapi.responses import PlainTextResponse

from dpbandits.service.http.access import Access, Principal
from dpbandits.service.http.shapes import (
    beliefs_data,
    csv_of,
    history_data,
    ratio_data,
    recent_data,
    rows_data,
    said_summary,
    shown_data,
    single_part,
    summary_data,
    uplift_data,
    whole_or_part,
)
from dpbandits.service.looks.reports import Summary
from dpbandits.service.looks.store import Campaigns
from dpbandits.service.pages.pricing import LossDesk
from dpbandits.version import __version__

After = Annotated[int, Query(ge=0, le=2**53)]
Limit = Annotated[int, Query(ge=1, le=10_000)]
Confidence = Annotated[float, Query(gt=0, lt=1)]
Segment = Annotated[str | None, Query(max_length=100)]
"""Of a campaign with segments: which of them."""

Whole = Annotated[bool, Query()]
"""All there is: of every segment, if there are some and none is named; with all that is said beside
rows.
"""


def reads(store: Campaigns[Any], access: Access) -> APIRouter:
    """Routes for those who watch."""
    router = APIRouter()
    for routes in (promise_routes, record_routes, finding_routes, watch_routes, machine_routes):
        router.include_router(routes(store, access))
    return router


def promise_routes(store: Campaigns[Any], access: Access) -> APIRouter:
    """What campaigns are and promise."""
    router = APIRouter()
    reader = Annotated[Principal, Depends(access.needs("read"))]

    @router.get("/v1/campaigns")
    def campaigns(who: reader) -> dict[str, Any]:
        found, others = store.summaries()
        return {"campaigns": [said_summary(each) for each in found], "not_shown": others}

    @router.get("/v1/campaigns/{name}")
    def campaign(name: str, who: reader, segment: Segment = None) -> dict[str, Any]:
        found = whole_or_part(store, name, segment)
        return summary_data(found) | {"options": found.options}

    @router.get("/v1/campaigns/{name}/guarantee")
    def guarantee(name: str, who: reader, segment: Segment = None) -> dict[str, Any]:
        of = whole_or_part(store, name, segment)
        found, spent = of.guarantee, of.spent
        return {
            "words": None if found is None else str(found),
            "epsilon": None if found is None or found.epsilon is None else str(found.epsilon),
            "spent": None if spent is None else str(spent),
        }

    @router.get("/v1/campaigns/{name}/statement")
    def statement(name: str, who: reader, segment: Segment = None) -> Any:
        return PlainTextResponse(whole_or_part(store, name, segment).statement())

    @router.get("/v1/campaigns/{name}/randomizer")
    def randomizer(name: str, who: reader, segment: Segment = None) -> Any:
        said = single_part(store, name, segment).randomizer()
        return PlainTextResponse(said, media_type="application/json")

    return router


def record_routes(store: Campaigns[Any], access: Access) -> APIRouter:
    """What happened, row by row."""
    router = APIRouter()
    reader = Annotated[Principal, Depends(access.needs("read"))]

    @router.get("/v1/campaigns/{name}/ledger")
    def ledger(name: str, who: reader, segment: Segment = None, whole: Whole = False) -> Any:
        if whole:
            return shown_data(store, (name, segment), lambda one: one.ledger, rows_data)
        return rows_data(single_part(store, name, segment).ledger)

    @router.get("/v1/campaigns/{name}/releases")
    def releases(
        name: str, who: reader, segment: Segment = None, after: After = 0, limit: Limit = 1_000
    ) -> Any:
        return rows_data(single_part(store, name, segment).releases(after, limit))

    @router.get("/v1/campaigns/{name}/decisions")
    def decisions(
        name: str,
        who: reader,
        segment: Segment = None,
        after: After = 0,
        limit: Limit = 1_000,
        format: str = "json",
    ) -> Any:
        page = single_part(store, name, segment).decisions(after, limit)
        if format == "csv":
            return PlainTextResponse(csv_of(page.rows), media_type="text/csv")
        return {"decisions": rows_data(page.rows), "after": page.after}

    @router.get("/v1/campaigns/{name}/events")
    def events(
        name: str, who: reader, segment: Segment = None, limit: Limit = 100
    ) -> list[dict[str, Any]]:
        return rows_data(single_part(store, name, segment).events(limit))

    return router


def finding_routes(store: Campaigns[Any], access: Access) -> APIRouter:
    """What came out of it."""
    router, desk = APIRouter(), LossDesk()
    reader = Annotated[Principal, Depends(access.needs("read"))]

    @router.get("/v1/campaigns/{name}/beliefs")
    def beliefs(
        name: str,
        who: reader,
        segment: Segment = None,
        whole: Whole = False,
        confidence: Confidence = 0.95,
    ) -> Any:
        if whole:
            at = (name, segment)
            return shown_data(store, at, lambda one: one.beliefs(confidence), beliefs_data)
        return rows_data(single_part(store, name, segment).beliefs(confidence))

    @router.get("/v1/campaigns/{name}/uplift")
    def uplift(name: str, who: reader, confidence: Confidence = 0.95) -> dict[str, Any]:
        return uplift_data(store[name], confidence)

    @router.get("/v1/campaigns/{name}/expected_loss")
    def expected_loss(name: str, who: reader, segment: Segment = None) -> dict[str, Any] | None:
        found = desk.of(single_part(store, name, segment))
        return None if found is None else found._asdict()

    @router.get("/v1/campaigns/{name}/history")
    def history(name: str, who: reader, segment: Segment = None) -> list[dict[str, Any]]:
        return history_data(single_part(store, name, segment).history())

    return router


def watch_routes(store: Campaigns[Any], access: Access) -> APIRouter:
    """Whether all goes as it should."""
    router = APIRouter()
    reader = Annotated[Principal, Depends(access.needs("read"))]

    @router.get("/v1/campaigns/{name}/sample_ratio")
    def sample_ratio(
        name: str, who: reader, segment: Segment = None, whole: Whole = False
    ) -> dict[str, Any]:
        if whole:
            return shown_data(store, (name, segment), lambda one: one.sample_ratio(), ratio_data)
        return ratio_data(single_part(store, name, segment).sample_ratio())

    @router.get("/v1/campaigns/{name}/harm")
    def harm(name: str, who: reader, segment: Segment = None, whole: Whole = False) -> Any:
        if whole:
            return shown_data(store, (name, segment), lambda one: one.harm(), beliefs_data)
        return rows_data(single_part(store, name, segment).harm())

    @router.get("/v1/campaigns/{name}/alarms")
    def alarms(name: str, who: reader, segment: Segment = None, whole: Whole = False) -> Any:
        if whole:
            return shown_data(store, (name, segment), lambda one: one.alarms, rows_data)
        return rows_data(single_part(store, name, segment).alarms)

    @router.get("/v1/campaigns/{name}/recent")
    def recent(
        name: str, who: reader, segment: Segment = None, newest: Limit = 1_000
    ) -> dict[str, Any]:
        return recent_data(single_part(store, name, segment).recent(newest))

    return router


def machine_routes(store: Campaigns[Any], access: Access) -> APIRouter:
    """Whether the service is well."""
    router = APIRouter()
    reader = Annotated[Principal, Depends(access.needs("read"))]

    @router.get("/healthz")
    def health() -> dict[str, str]:
        return {"status": "ok", "version": __version__}

    @router.get("/readyz")
    def ready() -> dict[str, str]:
        len(store)  # asks the database
        return {"status": "ready"}

    @router.get("/metrics")
    def metrics(who: reader) -> Any:
        return PlainTextResponse(metrics_of(store.summaries()[0]))

    return router


METRICS = {
    "asked": ("dpbandits_decisions_total", "counter", "Decisions made."),
    "told": ("dpbandits_resolved_total", "counter", "Decisions that wait no more."),
    "waiting": ("dpbandits_waiting", "gauge", "Decisions that wait for their rewards."),
    "step": ("dpbandits_releases_total", "counter", "Releases."),
    "generation": ("dpbandits_generation", "gauge", "Fences, plus one."),
    "overdue": ("dpbandits_overdue", "gauge", "Arms that wait for requests that are overdue."),
}
"""Names for Prometheus. What is private for a campaign is left out of it."""


def metrics_of(summaries: list[Summary]) -> str:
    """Public counts, as Prometheus reads them."""
    lines = list[str]()
    for field, (name, kind, words) in METRICS.items():
        lines += [f"# HELP {name} {words}", f"# TYPE {name} {kind}"]
        for each in summaries:
            value = getattr(each, field)
            if value is not None:
                lines.append(f'{name}{{campaign="{escaped(each.name)}"}} {value}')
    return "\n".join(lines) + "\n"


def escaped(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
