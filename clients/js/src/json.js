// JSON as the platform reads it, with whole numbers as bigints, and written as Python's json.dumps
// writes it: JSON.stringify knows no bigints, and reports may have more digits than a number keeps.

/**
 * The document. Whole numbers are bigints; what is no whole number up to 2^53 stays a number, for
 * which no message has a place. Throws an error if it is none.
 */
export function read(text) {
  return JSON.parse(text, (_, value) => (Number.isSafeInteger(value) ? BigInt(value) : value));
}

/** A value of strings, bigints, arrays and plain objects, as Python writes it: in ASCII. */
export function write(value) {
  if (typeof value === "bigint") return `${value}`;
  if (Array.isArray(value)) return `[${value.map(write).join(", ")}]`;
  if (typeof value === "string") return JSON.stringify(value).replace(/[^ -~]/g, escaped);
  const fields = Object.entries(value).map(([name, field]) => `${write(name)}: ${write(field)}`);
  return `{${fields.join(", ")}}`;
}

const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
