"""Routes that change a campaign."""

from collections.abc import Collection
from typing import Annotated, Any

from fastapi import APIRouter, Depends

from dpbandits.core.errors import MessageError, RewardError
from dpbandits.local.messages import report_from_json
from dpbandits.service.http.access import Access, Principal
from dpbandits.service.http.bodies import (
    MOST_TELLS,
    ArmBody,
    AskBody,
    CloseBody,
    CreateBody,
    IdsBody,
    ScopeBody,
    TellItem,
    UserBody,
    policy_from,
)
from dpbandits.service.http.shapes import decision_data, summary_data
from dpbandits.service.store import CampaignStore
from dpbandits.service.turns.tells import DeviceAnswer


def verbs(store: CampaignStore, access: Access) -> APIRouter:
    """Routes for those who ask, tell, and run campaigns."""
    router = APIRouter(prefix="/v1")
    for routes in (making_routes, answer_routes, arm_routes, ending_routes):
        router.include_router(routes(store, access))
    return router


def making_routes(store: CampaignStore, access: Access) -> APIRouter:
    """Campaigns and budgets over them are made."""
    router = APIRouter()
    admin = Annotated[Principal, Depends(access.needs("admin"))]

    @router.post("/campaigns", status_code=201)
    def create(body: CreateBody, who: admin) -> dict[str, Any]:
        made = store.create(body.name, policy_from(body.policy), **body.options())
        return summary_data(made)

    @router.post("/scopes", status_code=201)
    def scope(body: ScopeBody, who: admin) -> dict[str, Any]:
        made = store.scope(body.name, epsilon=body.epsilon)
        return {"name": made.name, "epsilon": str(made.epsilon), "spent": str(made.spent)}

    return router


def answer_routes(store: CampaignStore, access: Access) -> APIRouter:
    """Decisions are asked for and answered."""
    router = APIRouter()
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
    def tell(name: str, body: list[TellItem], who: teller) -> dict[str, Any]:
        if len(body) > MOST_TELLS:
            raise ValueError(f"Expected at most {MOST_TELLS:,} answers at once. None was recorded.")
        found = store[name]
        told = found.tell_many([(item.id, what_is_told(item, found.addresses)) for item in body])
        return results([item.id for item in body], told)

    @router.post("/campaigns/{name}/expire")
    def expire(name: str, body: IdsBody, who: teller) -> dict[str, Any]:
        return results(body.ids, store[name].expire(*body.ids))

    @router.post("/campaigns/{name}/void")
    def void(name: str, body: IdsBody, who: teller) -> dict[str, Any]:
        return results(body.ids, store[name].void(*body.ids))

    return router


def arm_routes(store: CampaignStore, access: Access) -> APIRouter:
    """Arms come and go."""
    router = APIRouter()
    admin = Annotated[Principal, Depends(access.needs("admin"))]

    @router.post("/campaigns/{name}/arms")
    def add_arm(name: str, body: ArmBody, who: admin) -> dict[str, Any]:
        label = None if body.arm is None else str(body.arm)
        return {"arm": store[name].add_arm(label, by=who.name)}

    @router.post("/campaigns/{name}/retire")
    def retire(name: str, body: ArmBody, who: admin) -> dict[str, Any]:
        store[name].retire_arm(named_arm(body), by=who.name)
        return summary_data(store[name])

    @router.post("/campaigns/{name}/pause")
    def pause(name: str, body: ArmBody, who: admin) -> dict[str, Any]:
        store[name].pause_arm(named_arm(body), by=who.name)
        return summary_data(store[name])

    @router.post("/campaigns/{name}/resume")
    def resume(name: str, body: ArmBody, who: admin) -> dict[str, Any]:
        store[name].resume_arm(named_arm(body), by=who.name)
        return summary_data(store[name])

    return router


def ending_routes(store: CampaignStore, access: Access) -> APIRouter:
    """What is given up, and ended."""
    router = APIRouter()
    admin = Annotated[Principal, Depends(access.needs("admin"))]

    @router.post("/campaigns/{name}/drop")
    def drop(name: str, who: admin) -> dict[str, Any]:
        store[name].drop_open(by=who.name)
        return summary_data(store[name])

    @router.post("/campaigns/{name}/finish")
    def finish(name: str, who: admin) -> dict[str, Any]:
        store[name].finish()
        return summary_data(store[name])

    @router.post("/campaigns/{name}/close")
    def close(name: str, body: CloseBody, who: admin) -> dict[str, Any]:
        store[name].close(body.why, by=who.name)
        return summary_data(store[name])

    @router.post("/campaigns/{name}/erase")
    def erase(name: str, body: UserBody, who: admin) -> dict[str, Any]:
        return {"void": store[name].erase(body.user, by=who.name)}

    return router


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


def results(ids: list[str], statuses: list[Any]) -> dict[str, Any]:
    """What became of each."""
    pairs = zip(ids, statuses, strict=True)
    return {"results": [{"id": id, "status": status} for id, status in pairs]}
