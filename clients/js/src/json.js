// JSON, read strictly and written as Python's json.dumps does. JSON.parse would not do: it takes
// 1.0 for 1, rounds whole numbers beyond 2^53, and hides a name that comes twice.

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?/y;
const WORD = /true|false|null/y;
const DEEPEST = 64;
const MOST_DIGITS = 4300;

/** What a number with a point or an exponent is read as: no message has a place for one. */
export const INEXACT = Symbol("a number that is not whole");

/**
 * The document: strings, bigints, arrays, Maps, true, false, null and INEXACT.
 * Throws a SyntaxError, which says nothing of the text, if it is none.
 */
export function read(text) {
  const reader = new Reader(text);
  const value = reader.value(0);
  reader.skip();
  if (reader.at < text.length) throw new SyntaxError("more than one JSON document");
  return value;
}

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  match(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found !== null) this.at = pattern.lastIndex;
    return found;
  }

  skip() {
    this.match(SPACE);
  }

  /** Whether this character comes next, which is then read. */
  takes(character) {
    this.skip();
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  need(character) {
    if (!this.takes(character)) throw new SyntaxError("no JSON document");
  }

  value(depth) {
    if (depth > DEEPEST) throw new SyntaxError("a JSON document that is nested too deeply");
    if (this.takes("{")) return this.object(depth + 1);
    if (this.takes("[")) return this.list(depth + 1);
    if (this.text[this.at] === '"') return this.string();
    const word = this.match(WORD);
    return word === null ? this.number() : { true: true, false: false, null: null }[word[0]];
  }

  object(depth) {
    const found = new Map();
    if (this.takes("}")) return found;
    do {
      this.skip();
      const name = this.string();
      if (found.has(name)) throw new SyntaxError("a JSON object with a name that comes twice");
      this.need(":");
      found.set(name, this.value(depth));
    } while (this.takes(","));
    this.need("}");
    return found;
  }

  list(depth) {
    const found = [];
    if (this.takes("]")) return found;
    do found.push(this.value(depth));
    while (this.takes(","));
    this.need("]");
    return found;
  }

  string() {
    if (this.text[this.at] !== '"') throw new SyntaxError("no JSON document");
    const start = this.at;
    do {
      this.at += this.text[this.at] === "\\" ? 2 : 1;
      if (this.at >= this.text.length) throw new SyntaxError("no JSON document");
    } while (this.text[this.at] !== '"');
    this.at += 1;
    return JSON.parse(this.text.slice(start, this.at));
  }

  number() {
    const found = this.match(NUMBER);
    if (found === null) throw new SyntaxError("no JSON document");
    const [, whole, point, exponent] = found;
    if (point !== undefined || exponent !== undefined) return INEXACT;
    if (whole.replace("-", "").length > MOST_DIGITS) throw new SyntaxError("a number too long");
    return BigInt(whole);
  }
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
