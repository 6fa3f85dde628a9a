"""Why calls are refused: codes, with one fixed text each. A server sends these texts and no others,
so that no reply repeats anything of a request; a client raises the same errors again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from dpbandits.core.errors import (
    ClosedError,
    DecisionError,
    EditedRowsError,
    Error,
    HorizonError,
    LedgerError,
    MessageError,
    NameTakenError,
    NoKeyError,
    NotForThisKeyError,
    RewardError,
    SharedError,
    StoreError,
    TooManyPendingError,
    UnknownCampaignError,
    coded,
)


class Reason(NamedTuple):
    """Why a call is refused.

    Args:
        status: of the HTTP reply. title: of its problem document.
        kind: the error in Python.
    """

    status: int
    title: str
    kind: type[Exception]
    text: str


REASONS: dict[str, Reason] = {
    "key_used": Reason(
        422,
        "The key is another call's",
        ValueError,
        "Expected key= to be one that no other call was made with: with this one, another number "
        "of decisions was asked for, among other arms, or for another person, or something else "
        "was done. None was made, and nothing was changed.",
    ),
    "closed": Reason(
        409,
        "The campaign is closed",
        ClosedError,
        "This campaign is closed: it makes no decisions any more, and its arms stay as they are. "
        "Nothing was done.",
    ),
    "given_up": Reason(
        410,
        "Gone",
        DecisionError,
        "The decisions that were asked for with this key were given up, because the database was "
        "restored, or a release could not be written. Ask with another key. None was made.",
    ),
    "edited_reply": Reason(
        503,
        "The store is away",
        EditedRowsError,
        "What was replied to this call before is not what dpbandits wrote: rows of the database "
        "were edited. Nothing was done. Make the call with another key.",
    ),
    "no_segments": Reason(
        422,
        "No segment",
        ValueError,
        "Expected no segment: this campaign has none. Create it with segments=['DE', 'FR'], or "
        "leave segment= out. Nothing was done.",
    ),
    "no_such_segment": Reason(
        422,
        "No such segment",
        ValueError,
        "Expected segment= to be one of the campaign's declared segments; its summary names them. "
        "None was made.",
    ),
    "part_needed": Reason(
        422,
        "By segment",
        ValueError,
        "This campaign has that by segment: campaign['DE'] in Python, ?segment=DE over HTTP. Its "
        "summary names the segments, or the sides of its holdout.",
    ),
    "whole_needed": Reason(
        422,
        "The whole campaign",
        ValueError,
        "Expected the whole campaign, and no segment: this is of all segments, or sides, together. "
        "Nothing was done.",
    ),
    "side_chosen": Reason(
        422,
        "No segment",
        ValueError,
        "Expected no segment=, and to be asked as the whole campaign: which side a person is on is "
        "not chosen. None was made.",
    ),
    "user_missing": Reason(
        422,
        "No user",
        ValueError,
        "Expected user=: this campaign knows its people (privacy_unit='user', or holdout=), so it "
        "has to know whose decision it is. None was made.",
    ),
    "user_unexpected": Reason(
        422,
        "No user expected",
        ValueError,
        "Expected no user=: this campaign counts each reward as another person's. Leave it out, or "
        "create a campaign with privacy_unit='user' and max_contributions=. None was made.",
    ),
    "user": Reason(
        422,
        "No user",
        TypeError,
        "Expected user= to be a person's own name or number: a text or a whole number. Nothing was "
        "done.",
    ),
    "user_empty": Reason(
        422,
        "No user",
        ValueError,
        "Expected user= to be a text in which something can be seen: all who have no name would be "
        "one person. Nothing was done.",
    ),
    "count": Reason(
        422,
        "No number of decisions",
        ValueError,
        "Expected count= to be a whole number from 0 to 100,000. None was made.",
    ),
    "key": Reason(
        422,
        "No key of a call",
        ValueError,
        "Expected key= to be a text of 1 to 200 characters that can be printed. Nothing was done.",
    ),
    "why": Reason(
        422,
        "No reason",
        ValueError,
        "Expected why= to be a text of 1 to 500 characters that can be printed. Nothing was done.",
    ),
    "eligible": Reason(
        422,
        "No list of arms",
        TypeError,
        "Expected eligible= to be a list of at most 10,000 arms, such as ['blue', 'green'] or [0, "
        "2], and of fewer with a large count=: they are kept beside each decision. None was made.",
    ),
    "none_in_play": Reason(
        422,
        "No arm in play",
        ValueError,
        "Expected eligible= to hold an arm that is in play: those named are paused or retired, or "
        "none was named. GET …/arms says where each arm stands. None was made.",
    ),
    "winner_only": Reason(
        422,
        "Only the winner",
        ValueError,
        "Expected eligible= to hold the winner of this campaign, which is closed and shows nothing "
        "else. None was made.",
    ),
    "no_such_arm": Reason(
        422,
        "No such arm",
        ValueError,
        "Expected an arm of this campaign, by its name or number, a number without quotes. GET "
        "…/arms names them. Nothing was done.",
    ),
    "arm_retired": Reason(
        422,
        "A retired arm",
        ValueError,
        "Expected an arm that was not retired: a retired one does not come back, and nothing of it "
        "is read any more. Add an arm of another name. Nothing was done.",
    ),
    "last_arm": Reason(
        422,
        "The last arm",
        ValueError,
        "Expected another arm to be left in play: this is the last one. Add or resume another one "
        "first, or close the campaign. Nothing was changed.",
    ),
    "arm_name": Reason(
        422,
        "No name of an arm",
        ValueError,
        "Expected the name of an arm to be a text that can be printed and that no arm had before; "
        "where arms have no names, none. GET …/arms says which names there are. Nothing was done.",
    ),
    "arms_fixed": Reason(
        422,
        "Not with this policy",
        ValueError,
        "This policy cannot choose among some of its arms: min_share=, assignment=, eligible=, "
        "winner= and changes of arms are not for it. Nothing was done.",
    ),
    "no_stopping_rule": Reason(
        422,
        "No stopping rule",
        TypeError,
        "Only a stopping rule may finish; this campaign's policy plays on for as long as decisions "
        "are asked for. To end the campaign, close it. Nothing was done.",
    ),
    "closed_otherwise": Reason(
        422,
        "Closed already",
        ValueError,
        "This campaign was closed already, with another winner= or read=. Nothing was changed.",
    ),
    "not_recordable": Reason(
        422,
        "No batches",
        ValueError,
        "Expected a campaign that takes outcomes of people who were assigned elsewhere: not one "
        "with privacy_unit='user', attribution_window=, contexts, the local model, or a policy "
        "that plays no single arms. Ask for each decision, and tell its reward. None was recorded.",
    ),
    "outcomes": Reason(
        422,
        "No outcomes",
        ValueError,
        "Expected outcomes, one reward a person; or, for rewards of 0 and 1, people and successes. "
        "Nothing was recorded.",
    ),
    "outcomes_count": Reason(
        422,
        "Too many or no people",
        ValueError,
        "Expected the outcomes of 1 to 100,000 people in one batch. Record larger ones as several, "
        "each with a key of its own. Nothing was recorded.",
    ),
    "horizon": Reason(
        409,
        "Past the horizon",
        HorizonError,
        "The policy has come to the horizon that it was made for, in one segment at least: nothing "
        "more is released there, and nothing was done. Close it, and create another campaign, with "
        "a longer horizon.",
    ),
    "no_such_policy": Reason(
        422,
        "No such policy",
        ValueError,
        "Expected policy.name to be the name of a policy that comes with dpbandits, such as "
        "DPKLUCB; dpb.list_policies() in Python names all. Nothing was created.",
    ),
    "policy": Reason(
        422,
        "No policy",
        ValueError,
        'Expected `policy` to hold the policy\'s name and its own arguments, such as {"name": '
        '"DPKLUCB", "arms": ["blue", "green"], "epsilon": "1"}; `errors` may say which '
        "argument is not possible. Nothing was created.",
    ),
    "option": Reason(
        422,
        "An option that cannot be",
        ValueError,
        "One of the campaign's options is not possible, by itself or beside the others; `errors` "
        "may say which. The same call on open_store('memory:') in Python says what is expected. "
        "Nothing was created.",
    ),
    "resolved_by_time": Reason(
        422,
        "Resolved by time",
        ValueError,
        "Expected a campaign without attribution_window=: with it decisions are resolved as their "
        "time passes, and nobody has to expire them.",
    ),
    "no_batches": Reason(
        422,
        "A holdout",
        ValueError,
        "Expected a campaign without holdout=: with it, a person's side says which arm they may "
        "get, and the campaign has to decide for each. Nothing was recorded.",
    ),
    "control_needed": Reason(
        422,
        "The control arm",
        ValueError,
        "Expected eligible= to hold the control arm, which everybody may get here. None was made.",
    ),
    "control_stays": Reason(
        422,
        "The control arm",
        ValueError,
        "This is the control arm, which holdout people get: it cannot go while the campaign runs. "
        "Close the campaign instead. Nothing was changed.",
    ),
    "mean_stays": Reason(
        422,
        "An arm whose mean stays",
        ValueError,
        "Expected an arm whose mean has changed, one of `changed` in its beliefs. Another try at "
        "one that has not would make wrong names more likely. Nothing was changed.",
    ),
    "no_people": Reason(
        422,
        "No people",
        ValueError,
        "This campaign does not know its people (privacy_unit='round'): there is nothing to erase.",
    ),
    "no_holdout": Reason(
        422,
        "No holdout",
        ValueError,
        "Expected a campaign with holdout=, against whose people the policy's are compared; this "
        "one has none.",
    ),
    "no_guardrail": Reason(
        422,
        "No guardrail",
        ValueError,
        "Expected a campaign with guardrail=, whose harm is watched; this one has none.",
    ),
    "no_description": Reason(
        422,
        "Not in the local model",
        TypeError,
        "Expected a campaign whose policy is private in the local model: of this one, rewards are "
        "told as numbers, and devices need to know nothing.",
    ),
    "context": Reason(
        422,
        "No context",
        ValueError,
        "Expected context= to be what the campaign's policy decides by: of each visitor as many "
        "finite numbers as it has features (of a data frame, frame.to_numpy()), or one for each "
        "feature's name, of a Euclidean norm of at most 1 (a policy made with clip=True shortens "
        "longer ones); with count= one for each decision; of a policy without contexts, none. No "
        "decision was made.",
    ),
    "by_context": Reason(
        422,
        "By context",
        TypeError,
        "This campaign's policy decides by contexts: an arm has no one mean. Look at its "
        "predictions, which are for given contexts.",
    ),
    "no_contexts": Reason(
        422,
        "No contexts",
        TypeError,
        "Expected a campaign whose policy decides by contexts; look at the beliefs of this one, "
        "which have its arms' means.",
    ),
    "reward_or_report": Reason(
        422,
        "No reward",
        RewardError,
        "Expected of each answer its reward, or in the local model its report, and not both. None "
        "was recorded.",
    ),
    "other_report": Reason(
        422,
        "No report",
        MessageError,
        "Expected a report for this decision and campaign, got one for another. None was recorded.",
    ),
    "many_arms": Reason(
        422,
        "Too many arms",
        ValueError,
        "This campaign has 10,000 arms, retired ones among them: no more can be added. Begin "
        "another campaign with those that are in play. Nothing was changed.",
    ),
    "in_clear": Reason(
        422,
        "A store without a key",
        ValueError,
        "Expected a store with a key: with attribution_window= single people's outcomes are held "
        "in the database until their time has passed, and without a key they lie there in clear. "
        "Open a new store with open_store(url, key=secrets.token_bytes(32)), or set DPBANDITS_KEY, "
        "and keep that key apart from the database; or say unsealed=True. Nothing was created.",
    ),
    "keyless": Reason(
        422,
        "A store without a key",
        ValueError,
        "Expected a store with a key: people are known by pseudonyms that are made with it. Open "
        "it with open_store(url, key=secrets.token_bytes(32)), or set DPBANDITS_KEY, and keep that "
        "key apart from the database. Nothing was created.",
    ),
    "no_such_scope": Reason(
        422,
        "No such scope",
        ValueError,
        "There is no scope of this name in this store. Make it first, with its epsilon. Nothing "
        "was created.",
    ),
    "scope_kind": Reason(
        422,
        "Another kind of guarantee",
        ValueError,
        "The scope adds up guarantees of another kind, which its first campaign fixed. Make "
        "another scope for this campaign. Nothing was created.",
    ),
    "scope_spent": Reason(
        422,
        "The scope is spent",
        ValueError,
        "The scope has less left than this campaign would take. Nothing was created.",
    ),
    "busy": Reason(
        409,
        "Busy",
        RuntimeError,
        "Another campaign's expected loss is being simulated. Ask again in some seconds.",
    ),
    # By the kind of an error, where its own text may hold something of the call
    "reward_out_of_range": Reason(
        422,
        "A reward is no number, or out of range",
        RewardError,
        "Expected each reward to be a number in [0, 1] or in the declared range, with a guardrail "
        "the reward and the harm, [0.5, 0], and for several arms one of each. None was recorded.",
    ),
    "message": Reason(
        422,
        "No report",
        MessageError,
        "Expected a report as the user's device makes it. None was recorded.",
    ),
    "decision": Reason(
        410, "Gone", DecisionError, "This decision is not pending. Nothing was done."
    ),
    "name_taken": Reason(
        409,
        "The name is taken",
        NameTakenError,
        "Expected a name that is not taken in this store. Nothing was created.",
    ),
    "no_such_campaign": Reason(
        404,
        "Not found",
        UnknownCampaignError,
        "There is no campaign of this name. GET /v1/campaigns, or `dpbandits campaign list`, names "
        "all there are.",
    ),
    "store": Reason(
        503,
        "The store is away",
        StoreError,
        "The database or its witness cannot be used now; the server's log says why. If this was a "
        "change, whether it stands is not known: make the same call again, with the key= that it "
        "had; no reward is counted twice.",
    ),
    "ledger": Reason(
        500,
        "The ledger does not add up",
        LedgerError,
        "The ledger of this campaign does not add up. Nothing was released.",
    ),
    "busy_campaign": Reason(
        409, "Busy", SharedError, "The campaign is busy with a call around this one. Call again."
    ),
    "full": Reason(
        409,
        "Too many pending decisions",
        TooManyPendingError,
        "As many decisions are pending as max_pending= allows. Tell or expire some of them, or "
        "create the campaign with a larger max_pending. None was made.",
    ),
    "own_policy": Reason(
        422,
        "A policy of somebody's own",
        ValueError,
        "This campaign's policy is a class of its maker's own, which no server has: a database "
        "names no code. Open it in Python: open_store(database).open(name, policy=YourPolicy). "
        "Nothing was done.",
    ),
    "not_now": Reason(
        409,
        "Not possible now",
        RuntimeError,
        "This is not possible now, or the policy cannot do this. Of several answers some may have "
        "been recorded: send them again, none counts twice.",
    ),
    "refused": Reason(
        422,
        "Refused",
        ValueError,
        "One of the values is not possible for this campaign. Nothing was done. GET …/arms and "
        "…/options say what there is; the same call on open_store('memory:') in Python says which "
        "value it is, and what is expected.",
    ),
    "no_key": Reason(
        401,
        "No key",
        NoKeyError,
        "No key was sent (Authorization: Bearer dpb_…), or one that is not known or was revoked. "
        "From Python: open_store(url, token='dpb_…'), or DPBANDITS_TOKEN.",
    ),
    "role": Reason(
        403,
        "Not for this key",
        NotForThisKeyError,
        "This key is not for this: it needs another role (ask, tell, read or admin).",
    ),
    "other_campaign": Reason(
        403, "Not for this key", NotForThisKeyError, "This key is for another campaign."
    ),
    "not_json": Reason(
        422,
        "Not JSON",
        ValueError,
        "The body is not JSON, or nested too deeply. Nothing was done; /docs describes every body.",
    ),
    "shape": Reason(
        422,
        "Of another shape",
        ValueError,
        "The request has another shape than expected; `errors` says where. Nothing was done; /docs "
        "describes every body.",
    ),
    "fault": Reason(
        500,
        "A fault of this server",
        RuntimeError,
        "The request failed; the server's log says why. It can be made again.",
    ),
}


def refusal(code: str, text: str | None = None) -> Exception:
    """Return the error of this code. text: in Python, where it may repeat what was given."""
    return coded(code, REASONS[code].kind, text or REASONS[code].text)


def code_of(error: Exception) -> str:
    """Return the code of an error: its own, its class's, or that of a plain error."""
    code = getattr(error, "code", None)
    if isinstance(code, str) and code in REASONS:
        return code
    if isinstance(error, (ValueError, TypeError)):
        return "refused"
    return "not_now" if isinstance(error, (RuntimeError, Error)) else "fault"


@contextmanager
def code_for(code: str) -> Iterator[None]:
    """Give this code to the plain errors of what is refused within, unless they have one."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if type(error) in (ValueError, TypeError) and not hasattr(error, "code"):
            error.code = code  # type: ignore[union-attr]  # errors may carry any attribute
        raise
