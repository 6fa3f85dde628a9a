// What turns one reward into one noisy report, in whole grid steps: local Laplace and randomised
// response, in the very laws of dpbandits.mechanisms.randomizers.

import { discreteLaplace, toss } from "./coins.js";
import { asText, ceiling, fraction, isAbove, least, times } from "./fraction.js";
import { RewardError } from "./errors.js";

const LARGEST_SCALE = 1n << 50n;
const PRECISION = 1n << 128n;
const CERTAIN = fraction(40n);

/** epsilon: of a whole report. width: how many rewards a report may be about. */
class Randomizer {
  constructor(epsilon, grid, width) {
    Object.assign(this, { epsilon, grid, width });
    this.cost = times(epsilon, 1n, width); // of one reward
  }

  get name() {
    const width = this.width > 1n ? `, width=${this.width}` : "";
    const epsilon = asText(this.epsilon);
    return `${this.constructor.title}(epsilon=${epsilon}, grid=${this.grid.steps}${width})`;
  }
}

/** Adds discrete Laplace noise of scale width/epsilon, cut off 60 scales beyond [0, 1]. */
export class LocalLaplace extends Randomizer {
  static title = "LocalLaplace"; // minified class names would not do

  constructor(epsilon, grid, width) {
    super(epsilon, grid, width);
    this.scale = fraction(grid.steps * this.cost.under, this.cost.over);
    this.reach = ceiling(times(this.scale, 60n));
  }

  get fits() {
    return !isAbove(this.scale, fraction(LARGEST_SCALE));
  }

  randomise(steps) {
    const noised = steps + discreteLaplace(this.scale);
    const most = this.grid.steps + this.reach;
    return noised > most ? most : noised < -this.reach ? -this.reach : noised;
  }
}

/** One bit, kept with probability 1/(1 + e^−epsilon) and else flipped. */
export class RandomizedResponse extends Randomizer {
  static title = "RandomizedResponse";

  get fits() {
    return true;
  }

  randomise(steps) {
    const bit = toss(steps, this.grid.steps);
    const truthful = toss(truth(this.cost), 1n << 64n);
    return bit === truthful ? this.grid.steps : 0n;
  }
}

/**
 * The chance to say the truth, in parts of 2^64. Each term of the series of e^epsilon is rounded
 * down, and then the quotient: it is never above 1/(1 + e^−epsilon).
 */
export function truth(epsilon) {
  const { over, under } = least(epsilon, CERTAIN);
  let [term, growth] = [PRECISION, PRECISION];
  for (let turn = 1n; term; turn += 1n) {
    term = (term * over) / (under * turn);
    growth += term;
  }
  return (((1n << 53n) * growth) / (growth + PRECISION)) << 11n;
}

/** The reward, if it is a number in [0, 1]. */
export function checkedReward(reward) {
  if (typeof reward !== "number" || !(reward >= 0 && reward <= 1)) {
    throw new RewardError(
      "Expected a reward that is a number in [0, 1] (not shown: rewards are private). Nothing " +
        "was reported.",
    );
  }
  return reward;
}

/** A checked reward in whole grid steps. Private: it is rounded, and not randomised yet. */
export function onGrid(reward, grid) {
  if (grid.rounding === "nearest" || reward === 0 || reward === 1) {
    return nearest(reward * Number(grid.steps));
  }
  return toss(...ratio(reward)) ? grid.steps : 0n;
}

/** The nearest whole number; of two, the even one. No chance is in it. */
function nearest(value) {
  const low = Math.floor(value);
  const past = value - low;
  const up = past > 0.5 || (past === 0.5 && low % 2 === 1);
  return BigInt(up ? low + 1 : low);
}

/** The two whole numbers, in lowest terms, whose exact quotient a float in (0, 1) is. */
export function ratio(value) {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const [raw, exponent] = [bits.getBigUint64(0) & ((1n << 52n) - 1n), bits.getUint16(0) >> 4];
  const digits = exponent ? raw | (1n << 52n) : raw;
  const exact = fraction(digits, 1n << BigInt(1075 - (exponent || 1)));
  return [exact.over, exact.under];
}
