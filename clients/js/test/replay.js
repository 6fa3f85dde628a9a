// The vectors that Python's tests hold, too: what a device answers to which bytes, in whatever runs
// this: Node or a browser.

import { Client, MessageError } from "../src/index.js";

/** A tape in place of the operating system's randomness, until `restore` is called. */
export class Tape {
  constructor(hex) {
    this.bytes = Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    this.used = 0;
    crypto.getRandomValues = (array) => {
      if (this.used + array.length > this.bytes.length) throw new Error("more bytes than expected");
      array.set(this.bytes.subarray(this.used, (this.used += array.length)));
      return array;
    };
  }

  restore() {
    delete crypto.getRandomValues;
  }
}

/** What a device says to one step: its report or the error's name, and how many bytes it used. */
async function said(client, { decision, reward, datum, bytes }) {
  const tape = new Tape(bytes);
  try {
    return [await client.answer(decision, reward, { datum }), tape.used];
  } catch (error) {
    return [error.name, tape.used];
  } finally {
    tape.restore();
  }
}

/**
 * What differs from the vectors, as texts. budgetOf: a budget of this total for the n-th device.
 */
export async function differences(vectors, budgetOf) {
  const found = [];
  for (const [at, { description, most, total, steps }] of vectors.devices.entries()) {
    const client = new Client(description, { most, budget: budgetOf(total ?? most, at) });
    for (const [turn, step] of steps.entries()) {
      const [answer, used] = await said(client, step);
      const expected = step.report ?? step.error;
      if (answer !== expected || used !== step.bytes.length / 2) {
        found.push(`device ${at}, step ${turn}: ${answer} with ${used} bytes, not ${expected}`);
      }
    }
  }
  for (const [description, taken] of vectors.descriptions) {
    if (takes(description) !== taken) found.push(`${taken ? "refused" : "taken"}: ${description}`);
  }
  return found;
}

function takes(description) {
  try {
    new Client(description, { most: "1e100" });
    return true;
  } catch (error) {
    if (error instanceof MessageError) return false;
    throw error;
  }
}
