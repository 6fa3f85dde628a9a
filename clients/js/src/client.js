// One user's device in one campaign: it takes a reward and gives one noisy report. The server has
// no part in it. As dpbandits.local.client.

import { BrowserBudget } from "./browser_budget.js";
import { MemoryBudget, requireBudget } from "./budget.js";
import { MessageError, RewardError, requireOptions } from "./errors.js";
import { asFraction, asText, isAbove, times } from "./fraction.js";
import { write } from "./json.js";
import { readDecision, readRandomizer, writeReport } from "./messages.js";
import { checkedReward, onGrid } from "./randomizers.js";

/**
 * Each report is epsilon-locally private about its rewards; all together they cost at most the
 * budget. The server chooses what it asks, how often and under which ids; so the budget holds for
 * all reports, whatever they are about.
 *
 * description: the randomizer, as the server describes it, and its campaign.
 * most: the largest epsilon of one report this user agrees to ("1/10", 0.1 or 1n).
 * total: the most that all reports may cost; by default `most`. In a browser it is kept in
 *     IndexedDB, for all pages of the origin; elsewhere it is forgotten with the client.
 * budget: in place of `total`, a budget that clients share, or one of your own (budget.js).
 *
 * Throws a MessageError if this is no description, a RangeError if it asks for more than `most`.
 */
export class Client {
  #campaign;
  #randomizer;
  #budget;
  #last = Promise.resolve(); // the answer that is under way: the next one waits for it

  constructor(description, options = {}) {
    requireOptions(options, ["most", "total", "budget"]);
    const { most, total, budget } = options;
    const { campaign, randomizer } = readRandomizer(description);
    if (isAbove(randomizer.epsilon, asFraction(most, "most"))) {
      throw new RangeError(
        `The server asks for epsilon=${asText(randomizer.epsilon)}, more than the ` +
          `most=${most} this user agrees to.`,
      );
    }
    if (budget !== undefined && total !== undefined) {
      throw new TypeError("Expected total or budget, not both: a budget has a total of its own.");
    }
    if (budget !== undefined) requireBudget(budget);
    if (globalThis.crypto?.subtle === undefined) {
      throw new TypeError(
        "Expected a secure context (https, or localhost), which has crypto.subtle.",
      );
    }
    const kind = globalThis.indexedDB === undefined ? MemoryBudget : BrowserBudget;
    this.#budget = budget ?? new kind({ total: total ?? most });
    this.#campaign = campaign;
    this.#randomizer = randomizer;
  }

  /** What each report promises its user, against the server and everybody else. */
  get guarantee() {
    const epsilon = asText(this.#randomizer.epsilon);
    return `ε = ${epsilon} per round (replace-one), local trust, secure noise`;
  }

  /**
   * The report on one decision, as the message to send. Asked again, it is the same message, and
   * free.
   *
   * reward: a number in [0, 1]; after a super arm a Map, or an object, from arm to reward. Arms the
   *     decision does not observe are left out.
   * datum: a name for what `reward` is, where decisions may ask about it again: "likes jazz". It is
   *     reported once, in every campaign with this randomizer; later answers repeat the report and
   *     are free. (Of several rewards, each arm's is one.)
   *
   * Rejects with a RewardError, a BudgetError or a MessageError. Then no report was made.
   */
  async answer(decision, reward, options = {}) {
    requireOptions(options, ["datum"]);
    const { datum } = options;
    const asked = readDecision(decision);
    if (asked.campaign !== this.#campaign) {
      throw new MessageError(
        "Expected a decision of the campaign this device was given the description of, got one " +
          "of another.",
      );
    }
    if (datum !== undefined && typeof datum !== "string") {
      throw new TypeError("Expected datum to be a name such as 'likes jazz'.");
    }
    if (datum !== undefined && /^[\s\p{Cc}\p{Cf}]*$/u.test(datum)) {
      throw new RangeError("Expected datum to be a name such as 'likes jazz', got an empty one.");
    }
    const rewards = rewardsIn(reward, asked); // as they are now, before others' turns
    const turn = this.#last.then(() => this.#answer(asked, rewards, datum));
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #answer(asked, rewards, datum) {
    const about = await digest(asked);
    const key = write(["decision", asked.id, this.#campaign]);
    const known = await this.#budget.recall(key);
    const kept = JSON.parse(known ?? (await this.#make(asked, about, key, rewards, datum)));
    if (kept[0] !== about) {
      throw new MessageError(
        "Expected a decision this device has not answered, or the same again, got another one " +
          "under an old id.",
      );
    }
    return kept[1];
  }

  /** Make the answer, in this order: check the rewards, pay for the report, draw it, keep it. */
  async #make(asked, about, key, rewards, datum) {
    const randomizer = this.#randomizer;
    requireRewards(rewards, asked, randomizer.width);
    const steps = rewards.found.map(checkedReward).map((one) => onGrid(one, randomizer.grid));
    const keys = asked.observe.map((arm) =>
      datum === undefined ? undefined : this.#datumKey(datum, rewards.areNamed ? [arm] : []),
    );
    const told = [];
    for (const one of keys) told.push(one && ((await this.#budget.recall(one)) ?? undefined));
    const fresh = told.filter((one) => one === undefined).length;
    if (fresh) await this.#budget.spend(asText(times(randomizer.cost, BigInt(fresh))));
    const said = [];
    for (const [at, one] of steps.entries()) {
      said.push(told[at] === undefined ? await this.#draw(keys[at], one) : BigInt(told[at]));
    }
    const report = Array.isArray(asked.action) ? said : said[0];
    const message = writeReport(this.#campaign, asked.id, report, randomizer);
    const answer = JSON.stringify([about, message]);
    return fresh ? this.#budget.keep(key, answer) : answer;
  }

  /** One reward, randomised, and kept if it is named; one that another tab kept first counts. */
  async #draw(key, steps) {
    const drawn = this.#randomizer.randomise(steps);
    return key === undefined ? drawn : BigInt(await this.#budget.keep(key, `${drawn}`));
  }

  /** The key of a named reward: the same in every campaign with this randomizer. */
  #datumKey(datum, arm) {
    const name = datum.normalize("NFC"); // an accent may come within its letter or after it
    return write(["datum", this.#randomizer.name, this.#randomizer.grid.rounding, name, arm]);
  }
}

/** A short text for what a decision asks: a server may ask about any number of arms. */
async function digest(asked) {
  const text = new TextEncoder().encode(write([asked.action, asked.observe]));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The rewards that a decision asks for, in its order, and whether they are named by arms. */
function rewardsIn(reward, asked) {
  const areNamed = typeof reward === "object" && !Array.isArray(reward);
  return { areNamed, found: areNamed ? asked.observe.map((arm) => rewardOf(reward, arm)) : [reward] };
}

/** Throw unless these are as many as the decision asks for, and no more than a report holds. */
function requireRewards({ areNamed, found }, asked, width) {
  const several = Array.isArray(asked.action);
  if (several && !areNamed) throw new RewardError("Expected a Map or an object from arm to reward.");
  if (!areNamed) return;
  const missing = asked.observe.filter((_, at) => found[at] === undefined || found[at] === null);
  if (missing.length) {
    throw new RewardError(
      `Expected the rewards of arms ${asked.observe.join(", ")}; those of ${missing.join(", ")} ` +
        "are missing. Nothing was reported.",
    );
  }
  if (several && BigInt(found.length) > width) {
    throw new RewardError(
      `Expected a report to be about 1 to ${width} rewards, got ${found.length}. Nothing was sent.`,
    );
  }
}

/** An arm's reward in a Map from numbers or bigints, or in an object. */
function rewardOf(reward, arm) {
  if (reward instanceof Map) {
    return reward.get(Number(arm)) ?? reward.get(arm);
  }
  return reward !== null && Object.hasOwn(reward, `${arm}`) ? reward[`${arm}`] : undefined;
}
