// A budget in the browser's IndexedDB, which outlives the page: for all pages of one origin.

import { asFraction, asText } from "./fraction.js";
import { spentAfter } from "./budget.js";
import { BudgetError } from "./errors.js";

const SPENT = "spent"; // the object store of one number
const ANSWERS = "answers";

/**
 * A budget in IndexedDB. Every change is one transaction, which is on disk before the next step;
 * two tabs that change at once come one after the other. It starts over where the user, or the
 * browser, deletes the site's data, and in each site that embeds the page.
 *
 * total: the most that all reports together may cost, those of earlier pages included.
 * name: the database's. Campaigns and pages that share a person share it.
 */
export class BrowserBudget {
  #database = null;

  constructor({ total, name = "dpbandits" }) {
    this.total = asText(asFraction(total, "total"));
    this.name = name;
    Object.freeze(this);
  }

  async spent() {
    return this.#inside(SPENT, "readonly", (store) => asked(store.get(SPENT), readSpent));
  }

  async spend(amount) {
    await this.#inside(SPENT, "readwrite", (store) =>
      asked(store.get(SPENT), (found) => {
        store.put(spentAfter(amount, readSpent(found), this.total), SPENT);
      }),
    );
  }

  async recall(key) {
    return this.#inside(ANSWERS, "readonly", (store) => asked(store.get(key), readAnswer));
  }

  async keep(key, answer) {
    return this.#inside(ANSWERS, "readwrite", (store) =>
      asked(store.get(key), (found) => {
        if (found === undefined) store.put(answer, key);
        return readAnswer(found ?? answer);
      }),
    );
  }

  /** The result of `work`, once its transaction is complete; whatever fails undoes all of it. */
  async #inside(kind, mode, work) {
    const database = await this.#open();
    try {
      const transaction = database.transaction(kind, mode, { durability: "strict" });
      const done = completed(transaction);
      done.catch(() => {}); // it is awaited below, unless `work` fails first
      let result;
      try {
        result = await work(transaction.objectStore(kind));
      } catch (error) {
        abort(transaction);
        throw error;
      }
      await done;
      return result;
    } catch (error) {
      throw error instanceof BudgetError ? error : unreadable(error);
    }
  }

  async #open() {
    this.#database ??= open(this.name, () => (this.#database = null));
    try {
      return await this.#database;
    } catch (error) {
      this.#database = null;
      throw unreadable(error);
    }
  }
}

function open(name, forget) {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => {
      for (const kind of [SPENT, ANSWERS]) request.result.createObjectStore(kind);
    };
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
      const database = request.result;
      database.onclose = forget;
      database.onversionchange = () => {
        forget();
        database.close();
      };
      resolve(database);
    };
  });
}

/** What `use` makes of a request's result, while its transaction is still open. */
function asked(request, use) {
  return new Promise((resolve, reject) => {
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
      try {
        resolve(use(request.result));
      } catch (error) {
        abort(request.transaction); // before it can complete
        reject(error);
      }
    };
  });
}

function completed(transaction) {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error("undone"));
  });
}

function abort(transaction) {
  try {
    transaction.abort();
  } catch {
    // it was over already
  }
}

function readSpent(found) {
  if (found === undefined) return "0";
  if (typeof found !== "string" || !/^(0|[1-9]\d*(\/[1-9]\d*)?)$/.test(found)) throw damaged();
  return found;
}

function readAnswer(found) {
  if (found !== undefined && typeof found !== "string") throw damaged();
  return found;
}

const damaged = () =>
  new BudgetError(
    "Expected the budget that a BrowserBudget kept; it is damaged. No report was made.",
  );

const unreadable = (cause) =>
  new BudgetError(
    "Expected a budget in this browser's storage; it cannot be read or written " +
      `(${cause?.name ?? "no storage"}). No report was made.`,
  );
