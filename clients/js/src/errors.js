// What is refused. No error repeats a reward or a message: errors end up in logs.

/** The text is no such message, or it belongs to another campaign. Nothing was reported. */
export class MessageError extends Error {
  name = "MessageError";
}

/** The reward is no number in [0, 1], or one is missing. Nothing was reported. */
export class RewardError extends Error {
  name = "RewardError";
}

/** Less is left than the report costs, or the budget cannot be read. No report was made. */
export class BudgetError extends Error {
  name = "BudgetError";
}

/** Refuse options that there are not. A misspelt one would else be left out without a word. */
export function requireOptions(given, known) {
  const isObject = typeof given === "object" && given !== null;
  const other = isObject ? Object.keys(given).find((name) => !known.includes(name)) : "no object";
  if (other === undefined) return;
  throw new TypeError(`Expected the options ${known.join(", ")}; got ${other}. Nothing was done.`);
}

/** The server, or its database, is away. Whether the call was done is not known. */
export class ServerError extends Error {
  name = "ServerError";
}

/** The server refuses the call, and nothing was done. code: why, for programs. */
export class RefusedError extends Error {
  name = "RefusedError";

  constructor(message, code, status) {
    super(message);
    this.code = code;
    this.status = status;
  }
}
