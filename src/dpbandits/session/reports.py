"""What a session says of itself to those who run it, and to those who watch them: beliefs,
decisions, traffic, a privacy statement. All of it is made of public values, so it costs nothing,
however often it is looked at.
"""

from dpbandits.campaign.believing.beliefs import Beliefs, beliefs
from dpbandits.campaign.ruler import Range
from dpbandits.campaign.statement import StatementFacts, statement
from dpbandits.campaign.watching.answers import Answers
from dpbandits.campaign.watching.ratio import SampleRatio
from dpbandits.local.messages import randomizer_to_json
from dpbandits.session.waiting_times import WaitingTimes
from dpbandits.session.wheel.choices import DecisionTable, answers_in
from dpbandits.session.wheel.guarded import GuardedWheel

LEAST_IS_BEST = Range(minimise=True)


class Reports(WaitingTimes):
    """A session that reports."""

    def beliefs(self, confidence: float = 0.95) -> Beliefs:
        """What is believed of every arm, from released values only: looking costs nothing.

        confidence: that all intervals of all arms hold, at all times at once.

        Raises:
            ValueError: a confidence that is not between 0 and 1.
        """
        believed, among = self._wheel.turn.believed, None
        if self.policy.about.feedback == "bandit":
            # an arm that is just being added is in play before anything is believed of it
            known = range(len(believed.arms))
            among = [arm for arm in self._wheel.roster.in_play if arm in known]
        together = self.policy.about.feedback == "semi"
        return beliefs(believed, confidence, ruler=self.rewards, among=among, together=together)

    def harm(self) -> Beliefs:
        """What is believed of every arm's harm, at the guardrail's confidence: looking costs
        nothing. The best arm here is the one that harms least.

        Raises:
            ValueError: this session has no guardrail.
        """
        wheel = self._wheel
        if not isinstance(wheel, GuardedWheel):
            raise ValueError(
                "Expected a session with guardrail=dpbandits.Guardrail('refunds', limit=.02), say; "
                "this one knows of no harm."
            )
        harm = wheel.harm
        return beliefs(harm.history.mirrored, harm.rail.confidence, ruler=LEAST_IS_BEST)

    def decisions(self) -> DecisionTable:
        """Every decision with the probability it had, for analysts. Rewards are not in it: they
        are not kept.

        A decision that follows from a plan has probability 1, whatever analysts may wish: give
        `min_share=` or `assignment="shuffled"` where effects are to be estimated by weighting. They
        give it with index policies, such as DPKLUCB; of an arm that is drawn from a posterior
        (LazyDPTS, NoiseAwareTS) it is not known, nor of a least share beside such draws: None.
        """
        wheel, asked = self._wheel, self._wheel.asked
        waiting = frozenset(wheel.pending)  # as it stands now: the session's own goes on changing
        return DecisionTable(asked, wheel.chosen, waiting, wheel.roster.labels)

    def sample_ratio(self) -> SampleRatio:
        """Whether as many decisions were drawn for each arm as their probabilities say. Decisions
        that follow from a plan are not tested: nothing is left to chance there. And whether answers
        come for every arm alike (`answers`), up to the oldest decision that waits: expire those
        that nobody answers. With an attribution window who answered is private, and not tested.

        Small evidence, below .01 say, points to decisions that got lost or were made up, or to an
        arm whose answers get lost. Sources: Lindon and Malek 2022 (arXiv 2011.03567); Wasserman,
        Ramdas and Balakrishnan 2020 (arXiv 1912.11436).
        """
        labels = tuple(str(name) for name, _ in self.arms)
        traffic = self._traffic
        while len(traffic.counts) < len(labels):  # arms that were added since the last draw
            traffic = traffic.with_arm()
        return SampleRatio(labels, traffic, self._answers())

    def _answers(self) -> Answers | None:
        """Who answered, by arm; None where that is private or kept elsewhere, or where a decision
        is about several arms.
        """
        wheel = self._wheel
        private = self._attribution is not None
        if private or self._unanswered is None or self.policy.about.feedback != "bandit":
            return None
        before = min(wheel.pending, default=wheel.asked + 1)
        return answers_in(wheel.chosen, self._unanswered, before, self.policy.arms)

    def description(self) -> str:
        """In the local model: what users' devices need to know before they answer, as JSON
        (`dpbandits.local.client.Client`).

        Raises:
            TypeError: this policy's users send their rewards as they are.
        """
        if self._randomizer is None:
            raise TypeError(
                f"Expected a policy that is private in the local model; {self.policy.name} has "
                "no randomizer."
            )
        return randomizer_to_json(self._randomizer, self.campaign)

    def statement(self) -> str:
        """The privacy statement of this session, to print: for an ethics board, or the people
        themselves.
        """
        return self._statement(None if self._people is None else self._people.people)

    def _statement(self, people: int | None) -> str:
        """people: who were asked for; None where that is said elsewhere, or is not known here."""
        about, wheel, drawn = self.policy.about, self._wheel, self._assignment
        units = "numbers in [0, 1]" if self.rewards is None else self.rewards.words
        return statement(
            StatementFacts(
                campaign=self.campaign,
                policy=self.policy.name,
                source=f"{about.paper}, {about.algorithm}",
                guarantee=self.guarantee,
                each=self._vault.guarantee,
                reward_range=units,
                arms=self.arms,
                asked=wheel.asked,
                told=self._vault.records,
                unread=wheel.unread + wheel.lost,
                waiting=len(wheel.pending),
                ledger=self.ledger,
                spent=self.spent,
                guardrail=self.guardrail,
                waits=self.attribution_window,
                default=self.default,
                assignment=None if drawn is None else drawn.words,
                chooses=self.policy.chooses,
                events=[each[:3] for each in self.events if each.what != "overdue"],
                cap=None if self._people is None else self._people.cap,
                span=None if self._people is None else self._people.span,
                apart=self._wheel.spacing is not None,
                caution=None if self.rewards is None else self.rewards.caution,
                people=people,
                several=about.feedback != "bandit",
            )
        )
