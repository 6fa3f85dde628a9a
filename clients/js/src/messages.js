// The three messages of local privacy, as in dpbandits.local.messages: the randomizer's description
// and a decision come from the server, a report goes back.

import { MessageError } from "./errors.js";
import { asFraction } from "./fraction.js";
import { read, write } from "./json.js";
import { LocalLaplace, RandomizedResponse } from "./randomizers.js";

const RANDOMIZERS = new Map([LocalLaplace, RandomizedResponse].map((kind) => [kind.title, kind]));
const LONGEST = 2 ** 20; // characters of a message
const LONGEST_NAME = 200;
const LARGEST = 10n ** 100n; // numerator or denominator of an epsilon
const MOST_ARMS = 10n ** 7n;
const MOST_STEPS = 1n << 20n;
const VERSION = 1n;

/** The randomizer that was described, and its campaign. */
export function readRandomizer(text) {
  const names = ["randomizer", "epsilon", "grid", "width"];
  const data = fieldsOf(text, names, "a randomizer's description");
  const kind = RANDOMIZERS.get(data.randomizer);
  if (kind === undefined || !isWhole(data.width, 1n, MOST_ARMS) || !hasGrid(data.grid)) {
    const known = [...RANDOMIZERS.keys()].join(", ");
    throw new MessageError(`Expected a randomizer among ${known} with its grid and width.`);
  }
  const made = make(kind, data);
  if (made === null) {
    throw new MessageError(
      "Expected epsilon to be a text such as '1/10' with numbers of at most 100 digits, grid " +
        "steps from 1 to 2^20, rounding nearest or bernoulli, and reports within 60 * 2^50 steps.",
    );
  }
  return { campaign: data.campaign, randomizer: made };
}

const hasGrid = (grid) => hasExactly(grid, ["steps", "rounding"]);

/** Whether this is an object with these names and no others. */
const hasExactly = (value, names) =>
  typeof value === "object" && value !== null && Object.keys(value).length === names.length &&
  names.every((name) => Object.hasOwn(value, name));

/** The randomizer of this kind; null if its numbers are none that a device takes. */
function make(kind, data) {
  const { steps, rounding } = data.grid;
  if (
    typeof data.epsilon !== "string" ||
    !isWhole(steps, 1n, MOST_STEPS) ||
    !["nearest", "bernoulli"].includes(rounding)
  ) {
    return null;
  }
  const epsilon = short(data.epsilon);
  if (epsilon === null) return null;
  const made = new kind(epsilon, Object.freeze({ steps, rounding }), data.width);
  return made.fits ? made : null;
}

/** The exact epsilon of a text; null if it is none of at most 100 digits. */
function short(text) {
  try {
    const epsilon = asFraction(text, "epsilon");
    return epsilon.over <= LARGEST && epsilon.under <= LARGEST ? epsilon : null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/**
 * A decision as the device reads it: campaign, id, action (an arm, or a list of them) and observe,
 * the arms to report about, in this order.
 */
export function readDecision(text) {
  const data = fieldsOf(text, ["id", "action", "observe"], "a decision");
  const { id, action, observe: named } = data;
  const played = Array.isArray(action) ? action : [action];
  const observe = named === null ? played : Array.isArray(named) ? named : [];
  if (!isWhole(id, 1n) || ![...played, ...observe].every((arm) => isWhole(arm, 0n))) {
    throw new MessageError("Expected a decision's id and arms to be whole numbers.");
  }
  const arms = new Set(played);
  if (
    observe.length === 0 ||
    new Set(observe).size < observe.length ||
    !observe.every((arm) => arms.has(arm))
  ) {
    throw new MessageError("Expected a decision to observe some of the arms it plays, each once.");
  }
  return { campaign: data.campaign, id, action, observe };
}

/** The message to send: steps is a whole number of grid steps, or a list of them. */
export function writeReport(campaign, id, steps, randomizer) {
  return write({
    version: VERSION,
    campaign,
    id,
    steps,
    randomizer: randomizer.name,
    noise: "secure",
  });
}

/** The JSON object with exactly these fields, a version and a campaign. */
function fieldsOf(text, names, what) {
  const data = document(text);
  const all = [...names, "version", "campaign"].sort();
  if (!hasExactly(data, all)) {
    throw new MessageError(
      `Expected ${what}: a JSON object with the fields ${all.join(", ")}, and no others.`,
    );
  }
  if (data.version !== VERSION) {
    throw new MessageError(
      `Expected ${what} of version ${VERSION}: update the package on the server or on the device.`,
    );
  }
  const { campaign } = data;
  if (typeof campaign !== "string" || [...campaign].length > LONGEST_NAME) {
    throw new MessageError(
      `Expected ${what} to name its campaign, in at most ${LONGEST_NAME} characters.`,
    );
  }
  return data;
}

/** The JSON document; null if the text is none, or too long to be read. */
function document(text) {
  if (typeof text !== "string" || text.length > 2 * LONGEST || characters(text) > LONGEST) {
    return null;
  }
  try {
    return read(text);
  } catch {
    return null; // no JSON, or nested too deeply
  }
}

/** A text's characters; those beyond 16 bits count once, as in Python. */
function characters(text) {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

const isWhole = (value, low, high = null) =>
  typeof value === "bigint" && value >= low && (high === null || value <= high);
