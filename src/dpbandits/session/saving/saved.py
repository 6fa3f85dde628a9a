"""A session as a document, and back: see `document.py` for what stands in it."""

from typing import Any, Self

from dpbandits.campaign.assignment import assignment_from_data
from dpbandits.campaign.attribution import AttributionWindow, require_clock
from dpbandits.campaign.guardrail import rail_from_data
from dpbandits.campaign.people.register import Clock, Register
from dpbandits.campaign.people.spacing import Spacing
from dpbandits.campaign.roster import roster_to_data
from dpbandits.campaign.ruler import range_from_data
from dpbandits.campaign.traffic import Traffic
from dpbandits.campaign.watching.answers import unanswered_from_data
from dpbandits.core.calls.forgetting import discreet
from dpbandits.core.values import damaged, entries
from dpbandits.noise.protocol import Noise
from dpbandits.policies.contract import Policy
from dpbandits.session.decisions import Play
from dpbandits.session.saving.document import read_document, write_document
from dpbandits.session.saving.noises import noise_to_data, source_of
from dpbandits.session.saving.position import (
    position,
    position_to_data,
    seed_said,
    wheel_at,
)
from dpbandits.session.special import SpecialAsks
from dpbandits.session.standing import special
from dpbandits.session.wheel.choices import chosen_to_data
from dpbandits.session.wheel.guarded import harm_to_data, restore_harm
from dpbandits.session.wheel.turn import settle


def require_use(public: dict[str, Any], private: dict[str, Any], user_key: object) -> None:
    """Refuse a key of people for a session that knows none, for another one may be meant; and
    answers that are held until no time.

    Raises:
        ValueError: so it is.
    """
    if user_key is not None and public["people"] is None:
        raise ValueError(
            "Expected no user_key=: in this session each reward counts as another person's. Is it "
            "the one that was meant?"
        )
    if public["attribution"] is None and entries(private["held"], "private.held"):
        raise damaged("answers are held, and no public.attribution says until when")


class Saved(SpecialAsks):
    """A session that can be saved, and continued from what was saved."""

    @discreet
    def to_json(self, *, key: bytes | None = None) -> str:
        """The whole session as a JSON document in two parts.

        "public" may be shown to anyone. "private" holds open sums, mechanism memory and, where arms
        are assigned by chance, the seed: keep it as you keep the rewards themselves. Continue once
        only, from the newest copy (the one with the largest "generation"): then every release is
        noised once. Each further continuation of one copy costs the people in its open blocks (with
        a tree: all its people) another epsilon.

        key: a secret of at least 16 bytes. The document then carries a MAC, and is loaded with the
            same key only: nobody without it can change what is read again. Without a key a checksum
            finds accidents, not intent.

        Raises:
            NotRecordedError: a release or plan that was begun, and failed, fails again. Nothing
            was saved.
        """
        self._gate.enter()
        try:
            return self._written(key)
        finally:
            self._gate.leave()

    def _written(self, key: bytes | None) -> str:
        if self._people is not None and self._people.own_key:
            raise ValueError(
                "This session knows its people by pseudonyms made with a key of its own, which "
                "no document holds. Make the session with user_key=secrets.token_bytes(32), "
                "keep that key apart, and give it to from_json, too. Nothing was saved."
            )
        self._wheel.recover()
        self._fold()
        held, waiting = self._vault.held, self._wheel.pending
        self._vault.held = {id: steps for id, steps in held.items() if id in waiting}
        if self._vault.drawn or self._vault.turns > self._wheel.turn.step:
            # a copy would draw the noise of a release that was begun once more
            settle(self._wheel)
        public, private = self._public(self.generation + 1), self._private()
        text = write_document(self.policy, public, private, key)
        self.generation += 1
        return text

    @classmethod
    @discreet
    def from_json(
        cls,
        text: str,
        *,
        policy: Policy | type[Policy] | None = None,
        noise: Noise | None = None,
        key: bytes | None = None,
        clock: Clock | None = None,
        user_key: bytes | None = None,
    ) -> Self:
        """Continue a saved session: given the same noise, it decides as the uninterrupted one
        would.

        Args:
            text: what `to_json` returned.
            policy: the policy, or its class, where it is one of your own: a document names no code.
                The policy, where its problem is your own (a `UserDecisionSet`): it goes on with the
                oracle that is given.
            noise: another source of the same kind to go on with; by default fresh secure noise, or
                the simulated one where it was.
            key: the key it was saved with.
            clock, user_key: as the session was made with, where people come back.

        Raises:
            ValueError: the text is no such document, was changed, contradicts itself, is of another
            version, was saved with another key, or of another policy than the given one; or `noise`
            is of another kind than the saved one, or weaker.
        """
        require_clock(clock)
        parts = read_document(text, policy, key)
        require_use(*parts[1:], user_key)
        return cls._continued(*parts, noise, clock, user_key)

    @classmethod
    def _continued(
        cls,
        policy: Policy,
        public: dict[str, Any],
        private: dict[str, Any] | None,
        noise: Noise | None,
        clock: Clock | None,
        user_key: bytes | None,
        waiting: dict[int, Play] | None = None,
    ) -> Self:
        """A session from its parts. private: None for one that is only looked at. waiting: its
        pending decisions, where they are kept apart.
        """
        if public["default"] is None:
            raise damaged("default=None is no reward")
        at = position(policy, public | {"seed": seed_said(public, private)}, waiting)
        session = cls(
            policy,
            noise=source_of(public["noise"], private, noise),
            seed=at.seed,
            default=public["default"],
            campaign=at.campaign,
            max_pending=at.max_pending,
            rewards=range_from_data(public["rewards"]),
            guardrail=rail_from_data(public["guardrail"]),
        )
        session._assignment = assignment_from_data(public["assignment"], policy.arms)
        session._traffic = Traffic.restored(public["traffic"], policy.arms)
        if public["attribution"] is not None:
            found = AttributionWindow.restored(public["attribution"], clock, at.asked)
            session._attribution = found
        session._restore_people(public, clock, user_key, at.asked)
        session._special = special(session)
        session._vault.restore(public["vault"], private)
        session._vault.restore_held([] if private is None else private["held"], at.pending)
        session._events = at.events
        session._wheel = wheel_at(session._wheel, at, public)
        # documents that were written before nobody counted in
        session._unanswered = unanswered_from_data(public.get("unanswered"), at.asked)
        restore_harm(session._wheel, public["harm"])
        session._wheel.chosen = at.chosen
        session.generation = at.generation
        return session

    def _restore_people(
        self, public: dict[str, Any], clock: Clock | None, user_key: bytes | None, asked: int
    ) -> None:
        """Who counts, and who may have an unread reward."""
        if public["people"] is not None:
            restored = Register.restored(public["people"], clock, user_key, asked)
            self._people, self._owners = restored
            self._wheel.spacing = Spacing.restored(public.get("spacing"), self.policy, asked)

    def _private(self) -> dict[str, Any]:
        """The private part of a saved session. Where arms are drawn by chance, the seed foretells
        who gets what.
        """
        private = self._vault.private_state()
        return private if self._assignment is None else private | {"seed": self.seed}

    def _public(self, generation: int) -> dict[str, Any]:
        """The public part of a saved session."""
        own: dict[str, Any] = {
            "campaign": self.campaign,
            "seed": self.seed if self._assignment is None else None,
            "default": self.default,
            "max_pending": self.max_pending,
        }
        own |= {"rewards": None if self.rewards is None else self.rewards.to_data()}
        own |= {"people": None if self._people is None else self._people.to_data(self._owners)}
        own |= {"spacing": None if self._wheel.spacing is None else self._wheel.spacing.to_data()}
        assignment = self._assignment
        own |= {"assignment": None if assignment is None else assignment.to_data()}
        unanswered = None if self._attribution is not None else self._unanswered
        own |= {"traffic": self._traffic.to_data()}
        own |= {"unanswered": None if unanswered is None else unanswered.to_data()}
        own |= {"chosen": chosen_to_data(self._wheel.chosen, self._wheel.asked)}
        window = self._attribution
        own |= {"attribution": None if window is None else window.to_data()}
        own |= {
            "arms": roster_to_data(self._wheel.roster),
            "events": [event[:3] for event in self._events],
        }
        own |= {"guardrail": None if self.guardrail is None else self.guardrail.to_data()}
        own |= {"harm": harm_to_data(self._wheel)}
        head = {"generation": generation, "noise": noise_to_data(self._noise)}
        return head | own | position_to_data(self._wheel) | {"vault": self._vault.public_state()}
