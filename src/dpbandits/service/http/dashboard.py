"""Pages for people: campaigns, one campaign, a form to plan a new one, and the way in."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles

from dpbandits.core.errors import Error
from dpbandits.service.http.access import COOKIE, Access, Principal
from dpbandits.service.http.problems import status_of
from dpbandits.service.http.shapes import single_part, whole_or_part
from dpbandits.service.looks.segments import ShownSegments
from dpbandits.service.looks.store import Campaigns
from dpbandits.service.pages.described import routes_of
from dpbandits.service.pages.forms import TOKEN, keep_cookie, sent_form, token_of
from dpbandits.service.pages.planning import TrialPlan, checked_plan, choices, forecast_of, table_of
from dpbandits.service.pages.pricing import LossDesk
from dpbandits.service.pages.views import campaign_view, campaigns_view, page, segments_view
from dpbandits.service.store import CampaignStore

STATIC = StaticFiles(packages=[("dpbandits.service.pages", "static")])
"""The style sheet and the script: nothing of any campaign."""

Form = Annotated[dict[str, str], Depends(sent_form)]


class PageRoute(APIRoute):
    """A route whose errors are pages; who is not known is sent to the way in."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        inner = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await inner(request)
            except HTTPException as error:
                if error.status_code == 401:
                    return RedirectResponse("/login", 303)
                return problem_page(request, error.status_code, str(error.detail))
            except (Error, ValueError, TypeError, LookupError, RuntimeError) as error:
                return problem_page(request, status_of(error)[0], words_of(error))

        return handled


def words_of(error: Exception) -> str:
    said = error.args[0] if error.args else None
    return said if isinstance(said, str) else "That was not possible."


def problem_page(request: Request, status: int, words: str) -> Response:
    plans = request.app.state.plans
    return HTMLResponse(page("problem.html", status=status, words=words, plans=plans), status)


def form_page(request: Request, template: str, status: int = 200, **content: Any) -> Response:
    """A page with a form, which carries the browser's token."""
    token, plans = token_of(request), request.app.state.plans
    response = HTMLResponse(page(template, token=token, plans=plans, **content), status)
    keep_cookie(response, request, TOKEN, token)
    return response


def address_of(name: str) -> str:
    """The page of a campaign."""
    return f"/campaigns/{quote(name, safe='')}"


def dashboard(store: Campaigns[Any], access: Access) -> APIRouter:
    """Routes of pages."""
    router = APIRouter(route_class=PageRoute, include_in_schema=False)
    reader = Annotated[Principal, Depends(access.needs("read"))]
    desk = LossDesk()

    @router.get("/")
    def campaigns(request: Request) -> Response:
        who = access.principal(request)
        if who.campaign is not None:
            return RedirectResponse(address_of(who.campaign), 303)
        access.needs("read")(request)
        view = campaigns_view(*store.summaries())
        return form_page(request, "campaigns.html", open=access.open, **view)

    @router.get("/campaigns/{name}")
    def campaign(name: str, who: reader, request: Request, segment: str | None = None) -> Response:
        found: Any = whole_or_part(store, name, segment)
        if isinstance(found, ShownSegments):
            view = segments_view(found)
            return form_page(request, "segments.html", open=access.open, **view)
        view = campaign_view(found) | {"home": name, "segment": segment}
        return form_page(request, "campaign.html", open=access.open, **view)

    @router.get("/campaigns/{name}/expected_loss")
    def loss(name: str, who: reader, request: Request, segment: str | None = None) -> Response:
        found = single_part(store, name, segment)
        view: dict[str, Any] = {"summary": found.summary(), "loss": desk.of(found)}
        view |= {"home": name, "segment": segment}
        return form_page(request, "loss.html", open=access.open, **view)

    @router.get("/docs")
    def docs(request: Request) -> Response:
        return form_page(request, "docs.html", routes=routes_of(request.app.openapi()))

    if isinstance(store, CampaignStore):  # else it only looks
        router.include_router(planning_routes(store, access))
    router.include_router(way_in(access))
    return router


def planning_routes(store: CampaignStore, access: Access) -> APIRouter:
    """The form that shows a trial's forecast, and then makes its campaign."""
    router = APIRouter(route_class=PageRoute, include_in_schema=False)
    planner = Annotated[Principal, Depends(access.needs("admin"))]
    maker = Annotated[Principal, Depends(access.needs("admin", page=True))]

    @router.get("/new")
    def new(who: planner, request: Request) -> Response:
        return planning_page(request, TrialPlan())

    @router.post("/new")
    def create(said: Form, who: maker, request: Request) -> Response:
        plan = TrialPlan.of(said)
        try:
            found = checked_plan(plan)
            if said.get("do") == "create" and said.get("foreseen") == plan.mark:
                made = store.create(plan.name, found.policy)
                return RedirectResponse(address_of(made.name), 303)
            table = table_of(forecast_of(found), found.epsilon)
        except (ValueError, TypeError) as error:
            return planning_page(request, plan, trouble=words_of(error), status=422)
        return planning_page(request, plan, table=table)

    return router


def planning_page(
    request: Request, plan: TrialPlan, *, table: Any = None, trouble: str = "", status: int = 200
) -> Response:
    content = {"plan": plan, "choices": choices(), "table": table, "trouble": trouble}
    return form_page(request, "new.html", status, **content)


def way_in(access: Access) -> APIRouter:
    """Logging in and out, where keys are asked for."""
    router = APIRouter(route_class=PageRoute, include_in_schema=False)

    @router.get("/login")
    def login(request: Request) -> Response:
        if access.open:
            return RedirectResponse("/", 303)
        return form_page(request, "login.html", trouble="")

    @router.post("/login")
    def enter(said: Form, request: Request) -> Response:
        key = said.get("key", "").strip()
        if not access.opens(key):
            trouble = "There is no such key, or it was revoked."
            return form_page(request, "login.html", 403, trouble=trouble)
        response = RedirectResponse("/", 303)
        keep_cookie(response, request, COOKIE, key)
        return response

    @router.post("/logout")
    def leave(said: Form) -> Response:
        response = RedirectResponse("/login", 303)
        response.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return response

    return router
