// The parts: exact fractions, JSON, floats as fractions, and what the sources may not contain.

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import test from "node:test";

import { spentAfter } from "../src/budget.js";
import { asFraction, asText, ceiling, fraction } from "../src/fraction.js";
import { read, write } from "../src/json.js";
import { ratio, truth } from "../src/randomizers.js";

test("numbers as they are written", () => {
  const read = (value) => asText(asFraction(value, "epsilon"));
  for (const [value, text] of [
    ...[[0.1, "1/10"], ["10/20", "1/2"], [1e21, `${10n ** 21n}`], [1e-7, "1/10000000"], [3n, "3"]],
    ...[[" 2.50\n", "5/2"], ["1_000", "1000"], [".5e+1", "5"], ["5.", "5"]],
  ]) {
    assert.equal(read(value), text);
  }
  for (const value of ["", "1/0", "0", "-1", "1 / 2", "1e99999", "1__0", null, [1], { a: 1 }]) {
    assert.throws(() => read(value), RangeError);
  }
});

test("sums of a budget", () => {
  assert.equal(spentAfter("1/3", "1/3", "1"), "2/3");
  assert.equal(spentAfter("1", "0", "1"), "1");
  assert.throws(() => spentAfter("1/1000", "1", "1"), /No report was made/);
  const tiny = `1/${7n ** 100n}`; // finer than what can be kept: rounded up
  assert.equal(spentAfter(tiny, "1", "2"), `${10n ** 40n + 1n}/${10n ** 40n}`);
  assert.deepEqual([0n, 1n, 5n, 6n].map((over) => ceiling(fraction(over, 5n))), [0n, 1n, 1n, 2n]);
});

test("floats as the quotients that they are", () => {
  for (const value of [0.5, 0.3, 1 / 3, 5e-324, 2.2250738585072014e-308, 1 - 2 ** -53, 1e-300]) {
    const [over, under] = ratio(value);
    const power = under.toString(2).length - 1; // 2^1074 is no float, half of it is
    assert.equal(under, 1n << BigInt(power));
    assert.equal((Number(over) * 2 ** -(power >> 1)) * 2 ** -(power - (power >> 1)), value);
    assert.ok(over % 2n === 1n);
  }
});

test("the truth is told no more often than epsilon allows", () => {
  for (const [epsilon, chance] of [[1, 0.7310585786300048], [0.1, 0.52497918747894]]) {
    assert.ok(Math.abs(Number(truth(asFraction(epsilon, "epsilon"))) / 2 ** 64 - chance) < 1e-14);
  }
  assert.equal((1n << 64n) - truth(fraction(99n)), 2048n);
  assert.equal(truth(fraction(1n, 10n ** 99n)), 1n << 63n);
});

test("JSON has whole numbers as bigints", () => {
  assert.deepEqual(read('{"a": [1, -0, 0.5, "\\u00e9", true, null]}').a, [
    ...[1n, 0n, 0.5, "é", true, null],
  ]);
  assert.equal(read(`${2n ** 53n}`), 2 ** 53);
  assert.throws(() => read("[1,]"), SyntaxError);
});

test("JSON is written in ASCII", () => {
  const value = { a: ["é\u{1f3ac}\x7f\n", 2n ** 70n], b: "x" };
  assert.equal(write(value), `{"a": ["\\u00e9\\ud83c\\udfac\\u007f\\n", ${2n ** 70n}], "b": "x"}`);
});

test("no other randomness, no dependencies", async () => {
  const folder = new URL("../src/", import.meta.url);
  for (const name of (await readdir(folder)).filter((each) => each.endsWith(".js"))) {
    const text = await readFile(new URL(name, folder), "utf8");
    assert.doesNotMatch(text, /Math\.random|eval\(/);
    // no chance that a promise rests on is a floating-point number; a posterior draw may be one
    if (name !== "snapshot.js") assert.doesNotMatch(text, /Math\.exp|Math\.log/);
    if (name !== "campaign.js") assert.doesNotMatch(text, /fetch/); // reports are sent by the page
    for (const [, from] of text.matchAll(/from "(.*?)"/g)) assert.match(from, /^\.\//);
  }
  const about = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
  assert.equal(about.dependencies ?? about.devDependencies, undefined);
});
