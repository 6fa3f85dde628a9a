// Exact random choices in whole numbers, from the bytes of the operating system. Every probability
// is a BigInt over a BigInt; no Number takes part. The Python package's dpbandits.noise.words and
// dpbandits.noise.draws read the same bytes in the same order and make the same of them.
// Canonne, Kamath and Steinke 2020, Algorithms 1 and 2.

const WORD = 64n;

/** So many fresh random bytes as one whole number, the first byte the highest. */
function fresh(bytes) {
  const drawn = crypto.getRandomValues(new Uint8Array(bytes));
  let value = 0n;
  for (const byte of drawn) value = (value << 8n) | BigInt(byte);
  drawn.fill(0);
  return value;
}

const bitLength = (value) => (value === 0n ? 0n : BigInt(value.toString(2).length));

/**
 * A uniform whole number in 0 … size − 1, by rejection: words of 8 bytes make a number below 2^64
 * (of more words, where size is larger), drawn anew beyond the largest multiple of size.
 */
export function wholeBelow(size) {
  const asked = (bitLength(size - 1n) + WORD - 1n) / WORD;
  const words = asked > 1n ? asked : 1n;
  const reach = 1n << (WORD * words);
  const bytes = Number(8n * words); // a length, no probability
  for (;;) {
    const drawn = fresh(bytes);
    if (drawn < reach - (reach % size)) return drawn % size;
  }
}

/** A coin of bias part/whole, exactly. */
export const toss = (part, whole) => wholeBelow(whole) < part;

/** A coin of bias e^(−part/whole). */
export function decayed(part, whole) {
  while (part > whole) {
    if (!decayed(1n, 1n)) return false;
    part -= whole;
  }
  let tries = 1n;
  while (wholeBelow(whole * tries) < part) tries += 1n;
  return tries % 2n === 1n;
}

/** P[X = x] is proportional to e^(−x/scale), x = 0, 1, 2, … */
function geometric(scale) {
  const { over: whole, under: parts } = scale;
  let rest = wholeBelow(whole);
  while (!decayed(rest, whole)) rest = wholeBelow(whole);
  let turns = 0n;
  while (decayed(1n, 1n)) turns += 1n;
  return (rest + whole * turns) / parts;
}

/** Discrete Laplace: P[X = x] is proportional to e^(−|x|/scale), scale a fraction. */
export function discreteLaplace(scale) {
  for (;;) {
    const size = geometric(scale);
    const negative = wholeBelow(2n);
    if (size || !negative) return negative ? -size : size; // zero has one sign only
  }
}
