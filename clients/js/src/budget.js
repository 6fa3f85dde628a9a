// What a device may still report, and what it has reported; how a cost is booked, and the budget in
// memory. A budget is spent before a report is made: a crash loses a part of it and never spends it
// twice.
//
// A budget of one's own, over any storage, has three methods, each async or not:
//   spend(amount)         take `amount`, a text such as "1/3", for ever, durably before it is done;
//                         throw a BudgetError where less is left (spentAfter does the sums)
//   recall(key)           what was kept under this text, or undefined
//   keep(key, answer)     keep the text `answer` for ever, unless there is one already; returns the
//                         one that is kept. Two that keep at once get the same one.

import { asFraction, asText, ceiling, fraction, isAbove, plus, times, ZERO } from "./fraction.js";
import { BudgetError } from "./errors.js";

const FINEST = 10n ** 40n; // the largest denominator of what is spent

/**
 * What is spent once `amount` is, as a text; all three are texts such as "1/3", `spent` may be "0".
 * A sum too fine to be kept is rounded up.
 */
export function spentAfter(amount, spent, total) {
  const before = spent === "0" ? ZERO : asFraction(spent, "spent");
  const exact = plus(before, asFraction(amount, "amount"));
  if (isAbove(exact, asFraction(total, "total"))) {
    throw new BudgetError(
      `Expected this device's reports to cost at most total=${total}; ${spent} of it is spent, ` +
        "and this report costs more than what is left. No report was made. Only the user can " +
        "agree to a larger total.",
    );
  }
  if (exact.under <= FINEST) return asText(exact);
  return asText(fraction(ceiling(times(exact, FINEST)), FINEST));
}

/** A budget for the life of one page or process. `total`: the most that all reports may cost. */
export class MemoryBudget {
  #answers = new Map();
  #spent = "0";

  constructor({ total }) {
    this.total = asText(asFraction(total, "total"));
    Object.freeze(this);
  }

  spent() {
    return this.#spent;
  }

  spend(amount) {
    this.#spent = spentAfter(amount, this.#spent, this.total);
  }

  recall(key) {
    return this.#answers.get(key);
  }

  keep(key, answer) {
    if (!this.#answers.has(key)) this.#answers.set(key, answer);
    return this.#answers.get(key);
  }
}

/** Throw unless this is a budget, before anything is spent of one. */
export function requireBudget(budget) {
  const verbs = ["spend", "recall", "keep"];
  if (!verbs.every((verb) => typeof budget?.[verb] === "function")) {
    throw new TypeError(
      "Expected budget to be a budget such as new BrowserBudget({total: 2}), or an object of " +
        "your own with spend, recall and keep.",
    );
  }
}
