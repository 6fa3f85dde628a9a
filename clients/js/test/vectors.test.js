// Python's answers, byte for byte.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";

import { MemoryBudget } from "../src/index.js";
import { differences } from "./replay.js";

const vectors = JSON.parse(await readFile(new URL("vectors.json", import.meta.url), "utf8"));

test("the vectors", async () => {
  assert.ok(vectors.devices.length > 70);
  assert.ok(vectors.descriptions.some(([, taken]) => taken));
  assert.deepEqual(await differences(vectors, (total) => new MemoryBudget({ total })), []);
});

test("a changed vector is seen", async () => {
  const changed = structuredClone(vectors);
  const step = changed.devices[0].steps[0];
  step.bytes += "00";
  changed.descriptions[0][1] = !changed.descriptions[0][1];
  const found = await differences(changed, (total) => new MemoryBudget({ total }));
  assert.equal(found.length, 2);
});
