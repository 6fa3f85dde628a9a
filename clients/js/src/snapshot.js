// Where contexts and decisions are private: the device decides by the public snapshot, and reports
// the place of its record in a histogram. The context never leaves it. As JointDPSession in Python.

import { toss } from "./coins.js";
import { MessageError } from "./errors.js";
import { checkedReward, ratio } from "./randomizers.js";

const FORMAT = "dpbandits snapshot";
const FINE = 2 ** 20; // steps of a context's entry per unit

/**
 * The decision of one person by a snapshot: { arm, label, index }, where index(reward) is the place
 * to send to `session.report(visit, index)` with the word of the visit. A reward in (0, 1) is
 * rounded to 0 or 1 by an exact coin, anew at each call: call it once.
 *
 * snapshot: the text of `visit.snapshot`.
 * context: numbers of a Euclidean norm of at most 1.
 *
 * The draw is from crypto.getRandomValues. Privacy does not rest on its exact law: what is released
 * is noised by the session whatever the device decides.
 *
 * Throws a MessageError if this is no snapshot, a RangeError for a context that does not fit. Neither
 * shows the context.
 */
export function decide(snapshot, context) {
  const { theta, roots, directions, labels } = readSnapshot(snapshot);
  const row = checkedContext(context, theta[0].length);
  const score = (each, arm) =>
    dot(each, row) + Math.hypot(...roots[arm].map((root) => dot(root, row))) * normal();
  const arm = largest(theta.map(score));
  const along = directions.map((direction) => dot(direction, row));
  const most = largest(along.map(Math.abs));
  const cell = 2 * most + (along[most] < 0 ? 1 : 0);
  const index = (reward) => {
    const value = checkedReward(reward);
    const one = value === 0 || value === 1 ? value : Number(toss(...ratio(value)));
    return (arm * 2 * directions.length + cell) * 2 + one;
  };
  return Object.freeze({ arm, label: labels === null ? null : labels[arm], index });
}

const dot = (one, other) => one.reduce((sum, value, at) => sum + value * other[at], 0);

/** The place of the largest number, the first on a tie. */
const largest = (values) => values.reduce((best, value, at) => (value > values[best] ? at : best), 0);

/** A uniform number in (0, 1], of 53 bits. */
function uniform() {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2));
  return ((high >>> 5) * 2 ** 26 + (low >>> 6) + 1) / 2 ** 53;
}

const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());

function readSnapshot(text) {
  let found = null;
  try {
    found = JSON.parse(text);
  } catch {
    // refused below, without the text
  }
  const features = found?.theta?.[0]?.length;
  const isMatrix = (value, rows) =>
    Array.isArray(value) && value.length === rows && rows > 0 &&
    value.every((row) => Array.isArray(row) && row.length === features && row.every(Number.isFinite));
  const arms = found?.theta?.length;
  const isLabels = (names) => names === null || (Array.isArray(names) && names.length === arms);
  const fits =
    found?.format === FORMAT && found.version === 1 && features > 0 && isMatrix(found.theta, arms) &&
    Array.isArray(found.roots) && found.roots.length === arms &&
    found.roots.every((root) => isMatrix(root, features)) &&
    isMatrix(found.directions, found.directions?.length) && isLabels(found.labels);
  if (!fits) throw new MessageError("Expected the text of a snapshot, version 1.");
  return found;
}

function checkedContext(context, features) {
  const isPlain = Array.isArray(context) && Array.from(context).every(Number.isFinite);
  const row = isPlain ? context.map((value) => Math.trunc(value * FINE) / FINE) : [];
  if (row.length !== features || !row.every(Number.isFinite) || dot(row, row) > 1) {
    throw new RangeError(
      `Expected a context of ${features} finite numbers of a Euclidean norm of at most 1 (not ` +
        "shown: contexts are private).",
    );
  }
  return row;
}
