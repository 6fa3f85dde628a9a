// What a device answers and what it refuses.

import assert from "node:assert/strict";
import test from "node:test";

import { BudgetError, Client, MemoryBudget, MessageError, RewardError } from "../src/index.js";
import { decision, description } from "./helpers.js";

const LIKES = { 0: 0.5, 3: 0.25 };

const device = (options = {}) => new Client(description(), { most: 1, total: 3, ...options });

test("a report is a message of whole steps, and the same again", async () => {
  const client = device();
  const message = await client.answer(decision(7, [0, 3], [3]), LIKES);
  const report = JSON.parse(message);
  assert.deepEqual(Object.keys(report).sort(), [
    ...["campaign", "id", "noise", "randomizer", "steps", "version"],
  ]);
  assert.equal(report.randomizer, "LocalLaplace(epsilon=1, grid=8, width=2)");
  assert.equal(report.noise, "secure");
  assert.equal(report.steps.length, 1);
  assert.equal(await client.answer(decision(7, [0, 3], [3]), LIKES), message);
  assert.equal(client.guarantee, "ε = 1 per round (replace-one), local trust, secure noise");
});

test("no more than the user agreed to", () => {
  for (const most of ["0.999", 0.5, "1/2"]) {
    assert.throws(() => device({ most }), /more than the most=/);
  }
  for (const most of [undefined, 0, -1, Number.NaN, Infinity, "", "x", true, {}]) {
    assert.throws(() => device({ most }), /Expected most to be/);
  }
  for (const most of [1n, 1, "1", "1/1", "1e0", 1.5]) assert.ok(device({ most }));
});

test("a total for all reports", async () => {
  const budget = new MemoryBudget({ total: "5/4" });
  const one = device({ total: undefined, budget });
  const other = device({ total: undefined, budget });
  const first = await one.answer(decision(1, [0, 3]), LIKES);
  await assert.rejects(other.answer(decision(2, [0, 3]), LIKES), BudgetError);
  assert.equal(budget.spent(), "1");
  assert.equal(await other.answer(decision(1, [0, 3]), LIKES), first);
  assert.throws(() => device({ budget }), TypeError);
  for (const wrong of [2, "b", MemoryBudget, {}, null]) {
    assert.throws(() => device({ total: undefined, budget: wrong }), TypeError);
  }
  const alone = new Client(description(), { most: 1 });
  await alone.answer(decision(1, [0, 3]), LIKES);
  await assert.rejects(alone.answer(decision(2, [0, 3]), LIKES), BudgetError);
});

test("an old id is no other decision", async () => {
  const client = device();
  await client.answer(decision(1, [0, 3]), LIKES);
  for (const other of [decision(1, [3, 0]), decision(1, [0, 3], [0]), decision(1, 0)]) {
    await assert.rejects(client.answer(other, LIKES), MessageError);
  }
  await assert.rejects(client.answer(decision(2, [0], null, "music"), LIKES), MessageError);
});

test("a wrong reward uses nothing up and is not shown", async () => {
  const budget = new MemoryBudget({ total: 1 });
  const client = device({ total: undefined, budget });
  const wrong = [0.731, null, undefined, [0.731, 0.731], { 0: 0.731 }, { 0: 0.5, 3: "0.731" }];
  wrong.push({ 0: 0.5, 3: 1.731 }, { 0: 0.5, 3: Number.NaN }, { 0: 0.5, 3: 1n }, new Map());
  for (const reward of wrong) {
    const error = await client.answer(decision(1, [0, 3]), reward).catch((found) => found);
    assert.ok(error instanceof RewardError);
    assert.doesNotMatch(`${error.message}${error.stack}${error.cause}`, /731/);
  }
  assert.equal(budget.spent(), "0");
  assert.ok(await client.answer(decision(1, [0, 3]), new Map([[0, 1], [3n, 0]])));
});

test("a message that is none is not repeated", async () => {
  const long = " ".repeat(2 ** 20) + decision(1, 0);
  for (const text of ["", "0.731", '{"id": "0.731"', long, "[".repeat(1e5), null, undefined, 731]) {
    const error = await device().answer(text, 1).catch((found) => found);
    assert.ok(error instanceof MessageError);
    assert.doesNotMatch(`${error.message}${error.cause}`, /731/);
  }
  const almost = " ".repeat(2 ** 20 - decision(1, 0).length) + decision(1, 0);
  assert.ok(await device().answer(almost, 1));
  const names = JSON.stringify({ [`\\"${"\\n".repeat(2e5)}`]: "a".repeat(2e5) });
  await assert.rejects(device().answer(names, 1), MessageError);
});

test("many arms, and numbers beyond what a Number holds", async () => {
  const arms = Array.from({ length: 100_000 }, (_, arm) => arm);
  assert.ok(await device().answer(decision(1, arms, [99_999]), { 99999: 1 }));
  for (const number of [2n ** 53n, 2n ** 53n + 1n, 10n ** 400n]) {
    const arm = decision(2, [0], null).replace("[0]", `[${number}]`);
    const id = decision(2, [0], null).replace('"id":2', `"id":${number}`);
    await assert.rejects(device().answer(arm, { [`${number}`]: 1 }), MessageError);
    await assert.rejects(device().answer(id, { 0: 1 }), MessageError);
  }
  assert.ok(await device().answer(decision(2 ** 53 - 1, [2 ** 53 - 1]), { [2 ** 53 - 1]: 1 }));
});

test("a named reward is reported once, in every campaign", async () => {
  const budget = new MemoryBudget({ total: 1 });
  const asked = (campaign) => new Client(description({ campaign }), { most: 1, budget });
  const named = { datum: "likes" };
  const one = await asked("films").answer(decision(1, [0, 3]), LIKES, named);
  const other = await asked("music").answer(decision(9, [3, 0], null, "music"), LIKES, named);
  assert.deepEqual(JSON.parse(other).steps, reversed(one));
  assert.equal(budget.spent(), "1");
  await assert.rejects(asked("films").answer(decision(2, [0]), LIKES, { datum: 3 }), TypeError);
});

test("two spellings of a reward's name are one", async () => {
  const budget = new MemoryBudget({ total: 1 });
  const client = new Client(description(), { most: 1, budget });
  for (const [at, datum] of ["Beyonc\u00e9", "Beyonce\u0301"].entries()) {
    await client.answer(decision(at + 1, [0, 3]), LIKES, { datum });
  }
  assert.equal(budget.spent(), "1");
  for (const datum of ["", " \u200b"]) {
    await assert.rejects(client.answer(decision(3, [0, 3]), LIKES, { datum }), RangeError);
  }
});

const reversed = (message) => [...JSON.parse(message).steps].reverse();

test("two questions at once", async () => {
  const budget = new MemoryBudget({ total: 1 });
  const client = device({ total: undefined, budget });
  const ask = () => client.answer(decision(1, [0, 3]), LIKES);
  const [one, other] = await Promise.all([ask(), ask()]);
  assert.equal(one, other);
  assert.equal(budget.spent(), "1");
});

test("rewards are those of the call, whatever its caller does with them meanwhile", async () => {
  const precise = description({ epsilon: "1000", randomizer: "RandomizedResponse", width: 1 });
  const client = new Client(precise, { most: 1000, total: 2000 });
  const likes = { 0: 1 };
  const reports = [client.answer(decision(1, 0), likes)];
  likes[0] = 0;
  reports.push(client.answer(decision(2, 0), likes));
  const steps = (await Promise.all(reports)).map((report) => JSON.parse(report).steps);
  assert.deepEqual(steps, [8, 0]);
});

test("what is paid for before a failing store keeps is lost, and not reported", async () => {
  const done = [];
  const budget = {
    spend: async (amount) => done.push(`spend ${amount}`),
    recall: async () => undefined,
    keep: async () => {
      throw new Error("disk full");
    },
  };
  const client = device({ total: undefined, budget });
  await assert.rejects(client.answer(decision(1, [0, 3]), LIKES), /disk full/);
  assert.deepEqual(done, ["spend 1"]);
  budget.spend = async () => {
    throw new BudgetError("no more");
  };
  budget.keep = async () => done.push("kept");
  await assert.rejects(client.answer(decision(2, [0, 3]), LIKES), /no more/);
  assert.deepEqual(done, ["spend 1"]);
});

test("a store that says null of what it has not", async () => {
  const [kept, spent] = [new Map(), []];
  const budget = {
    spend: (amount) => spent.push(amount),
    recall: (key) => kept.get(key) ?? null,
    keep: (key, answer) => kept.set(key, kept.get(key) ?? answer).get(key),
  };
  const client = device({ total: undefined, budget });
  const told = [1, 2].map((id) => client.answer(decision(id, [0, 3]), LIKES, { datum: "likes" }));
  const [one, other] = (await Promise.all(told)).map((message) => JSON.parse(message).steps);
  assert.deepEqual(one, other);
  assert.deepEqual(spent, ["1"]);
});

test("a misspelt option rejects the answer, too", async () => {
  await assert.rejects(device().answer(decision(1, 0), 1, { datun: "likes" }), TypeError);
});
