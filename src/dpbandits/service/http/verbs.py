"""Routes that change a campaign."""

import asyncio
import json
from collections.abc import Callable, Collection
from typing import Annotated, Any, final, get_type_hints

from fastapi import APIRouter, Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError

from dpbandits.core.calls.forgetting import discreet
from dpbandits.core.errors import MessageError, RewardError
from dpbandits.local.messages import report_from_json
from dpbandits.service.http.access import Access, Principal
from dpbandits.service.http.bodies import (
    ArmBody,
    AskBody,
    CloseBody,
    CreateBody,
    IdsBody,
    Items,
    KeyedBody,
    ScopeBody,
    TellItem,
    UserBody,
    policy_from,
)
from dpbandits.service.http.shapes import decision_data, scope_data, summary_data
from dpbandits.service.store import CampaignStore
from dpbandits.service.turns.tells import DeviceAnswer

SAID = TypeAdapter(dict[str, Any])
"""What verbs answer."""


@final
class VerbRoute(APIRoute):
    """A verb's route: key, body, work and answer are one piece of work for one thread. By itself
    the framework changes threads for each, which is most of what a small request costs.
    """

    def get_route_handler(self) -> Callable[[Request], Any]:
        takes = get_type_hints(self.endpoint, include_extras=True)
        (needed,) = takes["who"].__metadata__
        shape = TypeAdapter(takes["body"]) if "body" in takes else None
        needs_body = shape is not None and not takes_nothing(shape)
        status = self.status_code or 200

        @discreet  # a fault of ours is logged, by some with local variables
        def done(request: Request, sent: bytes) -> Response:
            given = {**request.path_params, "who": needed.dependency(request)}
            said = None if shape is None or not (sent or needs_body) else json_sent(sent)
            request.state.sent = lambda: said  # a function, for requests are logged, too
            if shape is not None:
                given["body"] = shaped(shape, said)
            answer = SAID.dump_json(self.endpoint(**given))
            return Response(answer, status, media_type="application/json")

        async def handle(request: Request) -> Response:
            loop, threads = asyncio.get_running_loop(), request.app.state.threads
            return await loop.run_in_executor(threads, done, request, await request.body())

        return handle


def takes_nothing(shape: TypeAdapter[Any]) -> bool:
    """Whether a body may be left out."""
    try:
        shape.validate_python(None)
    except ValidationError:
        return False
    return True


def json_sent(sent: bytes) -> Any:
    """
    Raises:
        RequestValidationError: it is no JSON, which is UTF-8.
    """
    try:
        return json.loads(sent.decode("utf-8-sig"))
    except ValueError as error:
        place = ("body", getattr(error, "pos", 0))
        raise RequestValidationError([{"loc": place, "msg": "JSON decode error"}]) from None


def shaped(shape: TypeAdapter[Any], said: Any) -> Any:
    """
    Raises:
        RequestValidationError: it is of another shape.
    """
    try:
        return shape.validate_python(said)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        raise RequestValidationError(
            [{**each, "loc": ("body", *each["loc"])} for each in found]
        ) from None


def verbs(store: CampaignStore, access: Access) -> APIRouter:
    """Routes for those who ask, tell, and run campaigns; those first that are called all day."""
    router = APIRouter(prefix="/v1", route_class=VerbRoute)
    for add_routes in (answer_routes, making_routes, arm_routes, ending_routes):
        add_routes(router, store, access)
    return router


def making_routes(router: APIRouter, store: CampaignStore, access: Access) -> None:
    """Campaigns and budgets over them are made."""
    admin = Annotated[Principal, Depends(access.needs("admin"))]

    @router.post("/campaigns", status_code=201)
    def create(body: CreateBody, who: admin) -> dict[str, Any]:
        how = {"by": who.name, "key": body.key, **body.options()}
        made = store.create(body.name, policy_from(body.policy), **how)
        return summary_data(made)

    @router.post("/scopes", status_code=201)
    def scope(body: ScopeBody, who: admin) -> dict[str, Any]:
        made = store.scope(body.name, epsilon=body.epsilon)
        return scope_data(made)


def answer_routes(router: APIRouter, store: CampaignStore, access: Access) -> None:
    """Decisions are asked for and answered."""
    asker = Annotated[Principal, Depends(access.needs("ask"))]
    teller = Annotated[Principal, Depends(access.needs("tell"))]

    @router.post("/campaigns/{name}/ask")
    def ask(name: str, body: AskBody, who: asker) -> dict[str, Any]:
        made = store[name].ask_for(
            body.count,
            eligible=body.eligible,
            user=body.user,
            key=body.key,
            principal=who.name,
            segment=body.segment,
        )
        return {"decisions": [decision_data(each) for each in made]}

    @router.post("/campaigns/{name}/tell")
    def tell(name: str, body: Items[TellItem], who: teller) -> dict[str, Any]:
        found = store[name]
        told = found.tell_many([(item.id, what_is_told(item, found.addresses)) for item in body])
        return results([item.id for item in body], told)

    @router.post("/campaigns/{name}/expire")
    def expire(name: str, body: IdsBody, who: teller) -> dict[str, Any]:
        return results(body.ids, store[name].expire(*body.ids))

    @router.post("/campaigns/{name}/void")
    def void(name: str, body: IdsBody, who: teller) -> dict[str, Any]:
        return results(body.ids, store[name].void(*body.ids))


def arm_routes(router: APIRouter, store: CampaignStore, access: Access) -> None:
    """Arms come and go."""
    admin = Annotated[Principal, Depends(access.needs("admin"))]

    @router.post("/campaigns/{name}/arms")
    def add_arm(name: str, body: ArmBody, who: admin) -> dict[str, Any]:
        label = None if body.arm is None else str(body.arm)
        return {"arm": store[name].add_arm(label, by=who.name, key=body.key)}

    @router.post("/campaigns/{name}/retire")
    def retire(name: str, body: ArmBody, who: admin) -> dict[str, Any]:
        store[name].retire_arm(named_arm(body), by=who.name, key=body.key)
        return summary_data(store[name])

    @router.post("/campaigns/{name}/pause")
    def pause(name: str, body: ArmBody, who: admin) -> dict[str, Any]:
        store[name].pause_arm(named_arm(body), by=who.name, key=body.key)
        return summary_data(store[name])

    @router.post("/campaigns/{name}/resume")
    def resume(name: str, body: ArmBody, who: admin) -> dict[str, Any]:
        store[name].resume_arm(named_arm(body), by=who.name, key=body.key)
        return summary_data(store[name])


def ending_routes(router: APIRouter, store: CampaignStore, access: Access) -> None:
    """What is given up, and ended."""
    admin = Annotated[Principal, Depends(access.needs("admin"))]

    @router.post("/campaigns/{name}/drop")
    def drop(name: str, who: admin, body: KeyedBody | None = None) -> dict[str, Any]:
        store[name].drop_open(by=who.name, key=key_in(body))
        return summary_data(store[name])

    @router.post("/campaigns/{name}/finish")
    def finish(name: str, who: admin, body: KeyedBody | None = None) -> dict[str, Any]:
        store[name].finish(by=who.name, key=key_in(body))
        return summary_data(store[name])

    @router.post("/campaigns/{name}/close")
    def close(name: str, body: CloseBody, who: admin) -> dict[str, Any]:
        store[name].close(body.why, by=who.name, key=body.key)
        return summary_data(store[name])

    @router.post("/campaigns/{name}/erase")
    def erase(name: str, body: UserBody, who: admin) -> dict[str, Any]:
        return {"void": store[name].erase(body.user, by=who.name, key=body.key)}


def what_is_told(item: TellItem, campaigns: Collection[str]) -> object:
    """The reward of an answer, or the report of a user's device.

    Raises:
        RewardError: neither, or both. Nothing of it is shown.
        MessageError: no report, or one for another campaign.
    """
    if (item.reward is None) is (item.report is None):
        raise RewardError(
            "Expected of each answer its reward, or in the local model its report, and not both. "
            "None was recorded."
        )
    if item.report is None:
        return item.reward
    said = report_from_json(item.report)
    if said.campaign not in campaigns:
        raise MessageError(
            "Expected a report for this campaign, got one for another. None was recorded."
        )
    return DeviceAnswer(said.id, said.report)


def named_arm(body: ArmBody) -> str | int:
    if body.arm is None:
        raise ValueError('Expected {"arm": …}, its name or its number. Nothing was changed.')
    return body.arm


def key_in(body: KeyedBody | None) -> str | None:
    return None if body is None else body.key


def results(ids: list[str], statuses: list[Any]) -> dict[str, Any]:
    """What became of each."""
    pairs = zip(ids, statuses, strict=True)
    return {"results": [{"id": id, "status": status} for id, status in pairs]}
