// What a device decides by a public snapshot.

import assert from "node:assert/strict";
import test from "node:test";

import { decide, MessageError, RewardError } from "../src/index.js";

// as Python's Snapshot.to_json writes it; widths of 0 leave nothing to chance
const snapshot = (changes = {}) =>
  JSON.stringify({
    ...{ format: "dpbandits snapshot", version: 1, epsilon: "1", block: 3, labels: ["a", "b"] },
    ...{ theta: [[1, 0], [0, 1]], roots: [[[0, 0], [0, 0]], [[0, 0], [0, 0]]] },
    ...{ directions: [[1, 0], [0, 1], [1, 1]], features: null, clip: false, rewards: null },
    ...changes,
  });

test("arm, cell and answer are one place", () => {
  // 3 directions: 6 signed cells, 12 places an arm; -0.5 lies against the second direction
  const made = decide(snapshot(), [0.2, -0.5]);
  assert.deepEqual([made.arm, made.label, made.index(0), made.index(1)], [0, "a", 6, 7]);
  assert.deepEqual(Object.keys(decide(snapshot({ labels: null }), [0.1, 0.6])), [
    ...["arm", "label", "index"],
  ]);
  assert.equal(decide(snapshot(), [0.3, 0.6]).index(1), 12 + 2 * 4 + 1);
});

test("rewards between are rounded by a coin; draws differ", () => {
  const made = decide(snapshot(), [0.2, -0.5]);
  const ones = Array.from({ length: 4000 }, () => made.index(0.25) - 6);
  const mean = ones.reduce((sum, one) => sum + one) / ones.length;
  assert.ok(Math.abs(mean - 0.25) < 4.9 * Math.sqrt(0.1875 / 4000)); // by chance 1 in a million
  const wide = snapshot({ roots: [[[9, 0], [0, 9]], [[9, 0], [0, 9]]] });
  const arms = new Set(Array.from({ length: 100 }, () => decide(wide, [0.2, -0.5]).arm));
  assert.equal(arms.size, 2);
});

test("longer contexts are shortened where the policy clips; names are in the features' order", () => {
  const named = snapshot({ clip: true, features: ["age", "late"] });
  // (3, 4e200) lies along the second direction as (0, 1) does
  assert.equal(decide(named, { late: 4e200, age: 3 }).index(1), decide(named, [0, 1]).index(1));
  for (const context of [{ age: 0.1 }, { age: 0.1, lat: 0.1 }, { age: 0.1, late: 0.1, x: 0 }]) {
    assert.throws(() => decide(named, context), RangeError);
  }
  assert.throws(() => decide(snapshot(), { age: 0.1, late: 0.1 }), RangeError);
  assert.equal(decide(snapshot(), [0, 1 + 1e-10]).index(1), decide(named, [0, 1]).index(1));
});

test("rewards are of the range that the session declared", () => {
  const index = (range, reward) =>
    decide(snapshot({ rewards: { low: -10, high: 30, clip: false, minimise: false, ...range } }), [1, 0])
      .index(reward);
  assert.deepEqual([index({}, -10), index({}, 30)], [0, 1]);
  assert.deepEqual([index({ minimise: true }, -10), index({ clip: true }, 99)], [1, 1]);
  const ones = Array.from({ length: 4000 }, () => index({ minimise: true }, 0));
  const mean = ones.reduce((sum, one) => sum + one) / ones.length;
  assert.ok(Math.abs(mean - 0.75) < 4.9 * Math.sqrt(0.1875 / 4000)); // by chance 1 in a million
  for (const reward of [-10.5, 31, NaN, "1", true]) {
    assert.throws(() => index({}, reward), RewardError);
  }
  assert.throws(() => index({ clip: true }, Infinity), RewardError);
});

test("what is refused does not show the context", () => {
  const bad = [{ version: 2 }, { theta: [[1]] }, { clip: 1 }, { features: ["one"] }];
  const ranges = [{}, { low: 1, high: 1 }, { low: 0, high: 1 }, undefined];
  for (const text of [
    ...["", "{}", "[1]"],
    ...[...bad, ...ranges.map((rewards) => ({ rewards }))].map(snapshot),
  ]) {
    assert.throws(() => decide(text, [0.1, 0.1]), MessageError);
  }
  for (const context of [[0.123456], [0.123456, 1], [0.123456, NaN], "x", null]) {
    assert.throws(() => decide(snapshot(), context), (error) => {
      return error instanceof RangeError && !error.message.includes("0.123456");
    });
  }
  assert.throws(() => decide(snapshot(), [0.1, 0.1]).index(2), RewardError);
});
