// Where contexts and decisions are private: the device decides by the public snapshot, and reports
// the place of its record in a histogram. The context never leaves it. As JointDPSession in Python.

import { toss } from "./coins.js";
import { MessageError, RewardError } from "./errors.js";
import { ratio } from "./randomizers.js";

const FORMAT = "dpbandits snapshot";
const FINE = 2 ** 20; // steps of a context's entry per unit
const TOUCHES = 1e-9; // a norm may be above 1 by so much

/**
 * The decision of one person by a snapshot: { arm, label, index }, where index(reward) is the place
 * to send to `session.report(visit, index)` with the word of the visit. The reward is in the range
 * that the session declared, [0, 1] by default. One between its ends is rounded to one of them by an
 * exact coin, anew at each call: call it once.
 *
 * snapshot: the text of `visit.snapshot`.
 * context: numbers of a Euclidean norm of at most 1 (a longer one is shortened if the policy clips);
 * in a list, or by name where features have names.
 *
 * The draw is from crypto.getRandomValues. Privacy does not rest on its exact law: what is released
 * is noised by the session whatever the device decides.
 *
 * Throws a MessageError if this is no snapshot, a RangeError for a context that does not fit. Neither
 * shows the context.
 */
export function decide(snapshot, context) {
  const { theta, roots, directions, labels, features, clip, rewards } = readSnapshot(snapshot);
  const row = checkedContext(listed(context, features), theta[0].length, clip);
  const score = (each, arm) =>
    dot(each, row) + Math.hypot(...roots[arm].map((root) => dot(root, row))) * normal();
  const arm = largest(theta.map(score));
  const along = directions.map((direction) => dot(direction, row));
  const most = largest(along.map(Math.abs));
  const cell = 2 * most + (along[most] < 0 ? 1 : 0);
  const index = (reward) => {
    const value = inUnits(reward, rewards ?? { low: 0, high: 1, clip: false, minimise: false });
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
  const length = found?.theta?.[0]?.length;
  const isMatrix = (value, rows) =>
    Array.isArray(value) && value.length === rows && rows > 0 &&
    value.every((row) => Array.isArray(row) && row.length === length && row.every(Number.isFinite));
  const arms = found?.theta?.length;
  const isNames = (names, many) => names === null || (Array.isArray(names) && names.length === many);
  const isRange = (range) =>
    range === null ||
    ([range?.low, range?.high].every(Number.isFinite) && range.low < range.high &&
      [range.clip, range.minimise].every((value) => typeof value === "boolean"));
  const fits =
    found?.format === FORMAT && found.version === 1 && length > 0 && isMatrix(found.theta, arms) &&
    Array.isArray(found.roots) && found.roots.length === arms &&
    found.roots.every((root) => isMatrix(root, length)) &&
    isMatrix(found.directions, found.directions?.length) && isNames(found.labels, arms) &&
    isNames(found.features, length) && typeof found.clip === "boolean" && isRange(found.rewards);
  if (!fits) throw new MessageError("Expected the text of a snapshot, version 1.");
  return found;
}

/** The numbers of a context that is given by name, in the order of the features. */
function listed(context, names) {
  if (Array.isArray(context) || names === null || typeof context !== "object") return context;
  const given = Object.keys(context ?? {});
  const fits = given.length === names.length && names.every((name) => given.includes(name));
  return fits ? names.map((name) => context[name]) : null;
}

function checkedContext(context, features, clip) {
  const plain = Array.isArray(context) ? Array.from(context) : [];
  const isPlain = plain.length === features && plain.every(Number.isFinite);
  const isLong = isPlain && !(dot(plain, plain) <= 1);
  if (!isPlain || (isLong && !clip && Math.hypot(...plain) > 1 + TOUCHES)) {
    throw new RangeError(
      `Expected a context of ${features} finite numbers of a Euclidean norm of at most 1 (not ` +
        "shown: contexts are private). Scale all contexts by one public constant, or make the " +
        "policy with clip=True.",
    );
  }
  const row = isLong ? shortened(plain) : plain;
  return row.map((value) => Math.trunc(value * FINE) / FINE);
}

function shortened(context) {
  const largest = Math.max(...context.map(Math.abs)); // its square may be too large for a number
  const scaled = context.map((value) => value / largest);
  const factor = (1 - 2 ** -40) / Math.sqrt(dot(scaled, scaled));
  return scaled.map((value) => value * factor);
}

/** A reward of a declared range as a number in [0, 1]; as Python's Range. */
function inUnits(reward, { low, high, clip, minimise }) {
  const isNumber = typeof reward === "number" && Number.isFinite(reward);
  if (!isNumber || (!clip && !(reward >= low && reward <= high))) {
    throw new RewardError(
      `Expected a reward that is a number in [${low}, ${high}] (not shown: rewards are private). ` +
        "Nothing was reported.",
    );
  }
  const unit = (Math.min(high, Math.max(low, reward)) - low) / (high - low);
  return minimise ? 1 - unit : unit;
}
