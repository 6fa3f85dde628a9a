// Exact fractions of whole numbers {over, under}, in lowest terms, under > 0.

const LARGEST = 10n ** 100n;
const LONGEST = 4000; // characters of a number's text
const LONGEST_EXPONENT = 5;
const DIGITS = "\\d+(?:_\\d+)*";
const NUMBER = new RegExp(
  `^\\s*([-+]?)(?=\\d|\\.\\d)(${DIGITS}|)` +
    `(?:/(${DIGITS})|(?:\\.(${DIGITS}|))?(?:e([-+]?${DIGITS}))?)\\s*$`,
  "i",
);

export function fraction(over, under = 1n) {
  let [a, b] = [over < 0n ? -over : over, under];
  while (b) [a, b] = [b, a % b];
  return Object.freeze({ over: over / a, under: under / a });
}

export const ZERO = fraction(0n);

export const plus = (a, b) => fraction(a.over * b.under + b.over * a.under, a.under * b.under);
export const times = (a, over, under = 1n) => fraction(a.over * over, a.under * under);
export const isAbove = (a, b) => a.over * b.under > b.over * a.under;
export const least = (a, b) => (isAbove(a, b) ? b : a);
export const ceiling = (a) => (a.over + a.under - 1n) / a.under; // of what is not below 0
export const asText = (a) => (a.under === 1n ? `${a.over}` : `${a.over}/${a.under}`);

/**
 * The positive exact number that a bigint, a number or a text such as "1/10" stands for. A number
 * stands for the decimal that it is written as: 0.1 is one tenth.
 */
export function asFraction(value, name) {
  const exact = ["string", "number", "bigint"].includes(typeof value) ? spelled(`${value}`) : null;
  if (exact === null || exact.over <= 0n || isAbove(exact, fraction(LARGEST))) {
    throw new RangeError(
      `Expected ${name} to be a finite number > 0 and at most 1e100, for example ${name}: "1/10".`,
    );
  }
  return exact;
}

/** The number of this text; null if it is none, or so long that reading it would take time. */
function spelled(text) {
  const [, exponentText = ""] = text.toLowerCase().split("e");
  if (text.length > LONGEST || exponentText.length > LONGEST_EXPONENT) return null;
  const found = NUMBER.exec(text);
  if (found === null) return null;
  const [sign, before, under, after, exponent] = found
    .slice(1)
    .map((part) => (part ?? "").replaceAll("_", ""));
  if (under) return BigInt(under) ? signed(sign, BigInt(before), BigInt(under)) : null;
  const shift = BigInt(exponent || 0) - BigInt(after.length);
  const digits = BigInt(before + after);
  return shift < 0n ? signed(sign, digits, 10n ** -shift) : signed(sign, digits * 10n ** shift, 1n);
}

const signed = (sign, over, under) => fraction(sign === "-" ? -over : over, under);
