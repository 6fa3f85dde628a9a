// What the page browser.html tries, and sends to the server that it came from: the vectors, and the
// budget in IndexedDB. With ?again it asks once more what an earlier page asked.

import { BrowserBudget, BudgetError, Client } from "../src/index.js";
import { decision, description, equal, refused } from "./helpers.js";
import { differences } from "./replay.js";

const LIKES = { 0: 0.5, 3: 0.25 };
const client = (options) => new Client(description(), { most: 1, ...options });

const checks = {
  async "the vectors"() {
    const vectors = await (await fetch("vectors.json")).json();
    const budgetOf = (total, at) => new BrowserBudget({ total, name: `vectors ${at}` });
    const found = await differences(vectors, budgetOf);
    equal(found.join("\n"), "");
  },

  async "a total for all clients of the origin"() {
    const [one, other] = [1, 2].map(() => new BrowserBudget({ total: "5/4", name: "total" }));
    const first = await client({ budget: one }).answer(decision(1, [0, 3]), LIKES);
    const more = () => client({ budget: other }).answer(decision(2, [0, 3]), LIKES);
    equal((await refused(more)) instanceof BudgetError, true);
    equal(await other.spent(), "1");
    equal(await client({ budget: other }).answer(decision(1, [0, 3]), LIKES), first);
  },

  async "at once, the same report"() {
    const clients = [1, 2, 3].map(() =>
      client({ budget: new BrowserBudget({ total: 3, name: "at once" }) }),
    );
    const told = await Promise.all(clients.map((one) => one.answer(decision(1, [0, 3]), LIKES)));
    equal(new Set(told).size, 1);
  },

  async "at once, no more than the total"() {
    const ask = (id) =>
      client({ budget: new BrowserBudget({ total: 4, name: "race" }) })
        .answer(decision(id, [0, 3]), LIKES)
        .then(() => 1, (error) => (error instanceof BudgetError ? 0 : NaN));
    const told = await Promise.all(Array.from({ length: 12 }, (_, at) => ask(at + 1)));
    equal(told.reduce((sum, one) => sum + one), 4);
    equal(await new BrowserBudget({ total: 4, name: "race" }).spent(), "4");
  },

  async "the first answer is kept"() {
    const budget = new BrowserBudget({ total: 1, name: "kept" });
    equal(await budget.recall("a"), undefined);
    equal(await budget.keep("a", "x"), "x");
    equal(await budget.keep("a", "y"), "x");
    equal(await budget.recall("a"), "x");
  },

  async "a damaged budget makes no report"() {
    const budget = new BrowserBudget({ total: 1, name: "damaged" });
    equal(await budget.spent(), "0");
    await put("damaged", "spent", "-7");
    const error = await refused(() => client({ budget }).answer(decision(1, [0, 3]), LIKES));
    equal(error instanceof BudgetError, true);
    equal(await budget.recall("decision"), undefined);
  },

  async "a database of a newer version makes no report"() {
    (await opened("newer", 2)).close();
    const budget = new BrowserBudget({ total: 1, name: "newer" });
    const error = await refused(() => client({ budget }).answer(decision(1, [0, 3]), LIKES));
    equal(error instanceof BudgetError, true);
  },
};

const opened = (name, version) =>
  new Promise((resolve, reject) => {
    const request = indexedDB.open(name, version);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

async function put(name, kind, value) {
  const database = await opened(name, 1);
  await new Promise((resolve) => {
    const transaction = database.transaction(kind, "readwrite");
    transaction.objectStore(kind).put(value, kind);
    transaction.oncomplete = resolve;
  });
  database.close();
}

/** Each check's error, if it has one. */
async function failures() {
  const found = {};
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check();
    } catch (error) {
      found[name] = `${error.stack ?? error}`;
    }
  }
  return found;
}

const again = new URLSearchParams(location.search).has("again");
const failed = again ? {} : await failures();
const report = await client({}).answer(decision(5, [0, 3]), LIKES); // the budget by default
const spent = await new BrowserBudget({ total: 1 }).spent();
const result = JSON.stringify({ checks: again ? [] : Object.keys(checks), failed, report, spent });
document.querySelector("#result").textContent = result;
await fetch("result", { method: "POST", body: result });
