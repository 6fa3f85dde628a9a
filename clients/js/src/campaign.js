// A campaign of a server (dpbandits serve) with central trust: ask for decisions, tell their rewards.
// As dpbandits.open_store("http://…") in Python.

import { RefusedError, RewardError, ServerError, requireOptions } from "./errors.js";

const TRIES = 4; // a call is made so often where the server is away,
const FALLBACK_TRIES = 2; // an ask with a fallback arm so often,
const PAUSE = 200; // with twice the pause each time, in ms
const PER_SECOND = 1000; // decisions of one call for which there is one second more
const AWAY = [429, 502, 503, 504]; // replies that say that the server, or its database, is away
// what Node says of requests that went to nobody; of a browser's it is not known
const UNSENT = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"];
const MOST_OWED = 10_000;
const MOST_ITEMS = 10_000; // decisions of one call
const OPTIONS = ["token", "timeout", "fallback", "fetch"];
const ASK_OPTIONS = ["count", "eligible", "user", "segment", "key", "context"];
const STATUSES = ["recorded", "already", "gone", "unknown"];
const LONGEST_WAIT = 2 ** 31 - 1; // in ms; a platform's clock makes none of a longer one
const ID = /^[0-9a-f]{32}$/;

/**
 * A campaign of a server.
 *
 * Calls that are cut off are made again; an ask keeps its key, so nothing is asked for twice, and a
 * reward that is told twice counts once.
 *
 * url: the server's address. name: the campaign's.
 * token: a bearer key with the roles ask and tell, where the server asks for one.
 * timeout: seconds in which it has to answer, and one more for every 1,000 decisions of the call.
 * fallback: the name or the number of an arm. While the server is away, `ask` then returns decisions
 *     for this arm, which have no id; nobody learns from them, and `tell` sends nothing of them.
 *     Decisions that may have been made are made void at the next contact.
 * fetch: sends the requests, in place of the platform's.
 */
export class Campaign {
  #address;
  #headers;
  #timeout;
  #fallback;
  #fetch;
  #owed = []; // asks that may have made decisions which nobody got

  constructor(url, name, options = {}) {
    requireOptions(options, OPTIONS);
    const { token, timeout = 2, fallback, fetch = globalThis.fetch } = options;
    if (typeof name !== "string" || name === "") {
      throw new TypeError("Expected the name of a campaign.");
    }
    if (typeof timeout !== "number" || !(timeout > 0 && timeout < Infinity)) {
      throw new RangeError("Expected timeout to be a number of seconds > 0.");
    }
    if (fallback !== undefined && !isArm(fallback)) {
      throw new TypeError("Expected fallback to be the name or the number of an arm.");
    }
    if (token !== undefined && !(typeof token === "string" && /^[!-~]+$/.test(token))) {
      throw new TypeError("Expected token to be a key (not shown), without spaces and line breaks.");
    }
    this.#address = new URL(`v1/campaigns/${encodeURIComponent(name)}/`, folder(url));
    this.#headers = { "Content-Type": "application/json" };
    if (token !== undefined) this.#headers.Authorization = `Bearer ${token}`;
    this.#timeout = timeout;
    this.#fallback = fallback;
    this.#fetch = (...request) => fetch(...request);
    this.name = name;
    Object.freeze(this);
  }

  /**
   * The next decision; with `count` a list of so many.
   *
   * eligible: arms by names or numbers; by default all in play. user: for whom, where people come
   *     back. segment: which, of a campaign with segments. key: a word of yours; the call made again
   *     with it gives the same decisions. context: of a policy that decides by contexts, what is known
   *     of the visitor, a list of numbers or an object from features' names to numbers; with `count` a
   *     list of these.
   *
   * Rejects with a RefusedError if the server refuses, with a ServerError if it is away and there is
   * no fallback.
   */
  async ask(options = {}) {
    requireOptions(options, ASK_OPTIONS);
    const { count, eligible, user, segment, key, context } = options;
    if (count !== undefined && !(Number.isSafeInteger(count) && count >= 0)) {
      throw new RangeError("Expected count to be a whole number >= 0.");
    }
    if (![undefined, null].includes(user) && typeof user !== "string" && !Number.isSafeInteger(user)) {
      throw new TypeError("Expected user to be a text or a whole number. Nothing was sent.");
    }
    if (context !== undefined && !areNumbers(context)) {
      throw new TypeError("Expected context to be finite numbers. Nothing was sent.");
    }
    const body = { count: count ?? 1, eligible, user, segment, context, key: key ?? freshKey() };
    const asItIs = JSON.parse(JSON.stringify(body)); // it may be sent again when the caller has changed it
    const decisions = await this.#ask(asItIs, key === body.key);
    return count === undefined ? decisions[0] : decisions;
  }

  async #ask(body, isRepeatable) {
    const hasFallback = this.#fallback !== undefined;
    const reply = await this.#send("ask", body, body.count, hasFallback ? FALLBACK_TRIES : TRIES);
    let decisions;
    try {
      decisions = decisionsIn(reply, body.count);
    } catch (error) {
      if (error instanceof RefusedError) throw error;
      const hasCaller = isRepeatable && !hasFallback; // who gets what was made
      if (reply.isSent && !hasCaller) this.#owe(body);
      if (!hasFallback || !isAway(reply)) throw error;
      return Array.from({ length: body.count }, () => this.#fallbackDecision(body.segment));
    }
    if (isRepeatable) this.#owed.splice(0, Infinity, ...this.#owed.filter(isNot(body)));
    await this.#voidOwed();
    return decisions;
  }

  /**
   * Record the reward of a decision, or of its id: a number in the declared range (true and false are
   * 1 and 0), after a super arm a list. Returns what became of it: "recorded", "already", "gone" or "unknown".
   *
   * Rejects with a RewardError if it is no number; nothing was sent. Rejects as `ask` without a
   * fallback; then make the call again.
   */
  async tell(decision, reward) {
    const [status] = await this.tellMany([[decision, reward]]);
    return status;
  }

  /** Record several [decision, reward] pairs, in this order, or none if one of them is refused. */
  async tellMany(tells) {
    const all = pairsIn(tells).map(([decision, reward]) => ({
      id: idOf(decision),
      reward: checkedReward(reward),
    }));
    const sent = all.filter(({ id }) => id !== "");
    if (sent.length === 0) return all.map(() => "unknown");
    const statuses = statusesIn(await this.#send("tell", sent, sent.length, TRIES), sent.length);
    await this.#voidOwed();
    return all.map(({ id }) => (id === "" ? "unknown" : statuses.shift()));
  }

  /**
   * The reply to a request, which is made again where the server is away; its status is null if there
   * is none. isSent: whether the server may have got the request.
   */
  async #send(what, body, decisions, tries) {
    const seconds = this.#timeout + decisions / PER_SECOND;
    let reply = null;
    for (let attempt = 0; attempt < tries; attempt += 1) {
      if (attempt) await pause(PAUSE * 2 ** (attempt - 1));
      const isSent = reply?.isSent;
      reply = await this.#sendOnce(what, JSON.stringify(body), seconds);
      reply.isSent ||= isSent;
      if (reply.status !== null && !AWAY.includes(reply.status)) break;
    }
    return reply;
  }

  async #sendOnce(what, body, seconds) {
    try {
      const reply = await this.#fetch(new URL(what, this.#address), {
        method: "POST",
        headers: this.#headers,
        body,
        redirect: "manual", // what is sent is for this server only
        signal: AbortSignal.timeout(Math.min(Math.ceil(1000 * seconds), LONGEST_WAIT)),
      });
      return { status: reply.status, text: await reply.text(), isSent: true };
    } catch (error) {
      // the rest of the error may show the request, and with it rewards
      return { status: null, text: "", isSent: !UNSENT.includes(error?.cause?.code) };
    }
  }

  #owe(body) {
    this.#owed.push(body);
    if (this.#owed.length > MOST_OWED) this.#owed.shift();
  }

  /**
   * Void the decisions of one ask that nobody got: made again with its key, it says which. Whatever
   * comes of it, the call that it comes after has succeeded.
   */
  async #voidOwed() {
    const body = this.#owed.shift();
    if (body === undefined) return;
    try {
      const decisions = decisionsIn(await this.#send("ask", body, body.count, 1), body.count);
      for (let at = 0; at < decisions.length; at += MOST_ITEMS) {
        const ids = decisions.slice(at, at + MOST_ITEMS).map(({ id }) => id);
        statusesIn(await this.#send("void", { ids }, ids.length, 1), ids.length);
      }
    } catch (error) {
      if (!(error instanceof RefusedError)) this.#owe(body);
    }
  }

  #fallbackDecision(segment) {
    const isNamed = typeof this.#fallback === "string";
    return {
      id: "",
      action: isNamed ? -1 : this.#fallback, // the number of a named arm is not known here
      round: 0,
      observe: null,
      campaign: segment === undefined ? this.name : `${this.name}/${segment}`,
      label: isNamed ? this.#fallback : null,
      learn: false,
      propensity: null,
      message: null,
    };
  }
}

const isArm = (arm) => (typeof arm === "string" ? arm !== "" : Number.isSafeInteger(arm) && arm >= 0);

/**
 * Whether all that a list or an object holds, at any depth, are finite numbers. Holes, dates, maps
 * and typed arrays would be sent as something else.
 */
function areNumbers(value) {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return false;
  const isList = Array.isArray(value);
  const parts = isList ? Array.from(value) : Object.values(value);
  return (isList || parts.length > 0) && parts.every((each) => Number.isFinite(each) || areNumbers(each));
}

const isNot = (body) => (other) => other.key !== body.key;

const isAway = ({ status }) => status === null || status >= 500 || AWAY.includes(status);

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** The address with a slash at its end, below which others lie. */
function folder(url) {
  let address; // the platform's own error would keep what may have a password in it
  try {
    address = new URL(url);
  } catch {}
  if (!/^https?:$/.test(address?.protocol) || address.username || address.password) {
    throw new TypeError("Expected the http or https address of a server, without user and password.");
  }
  if (!address.pathname.endsWith("/")) address.pathname += "/";
  return address;
}

/** The key of one call, which it keeps however often it is made again. */
function freshKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** So many decisions, as a reply has them. Throws the error that it is. */
const decisionsIn = (reply, count) =>
  listIn(reply, "decisions", count, (each) => ID.test(each?.id));

/** What became of so many decisions, as a reply says it. Throws the error that it is. */
const statusesIn = (reply, count) =>
  listIn(reply, "results", count, (each) => STATUSES.includes(each?.status)).map(
    ({ status }) => status,
  );

function listIn(reply, name, count, isOne) {
  if (reply.status === null) {
    throw new ServerError(
      "No server answers: is the address right, and does `dpbandits serve` run there? Whether the " +
        "call was done is not known; make it again, an ask with its key.",
    );
  }
  let found = null;
  try {
    found = JSON.parse(reply.text);
  } catch {
    // no reply of dpbandits
  }
  if (reply.status >= 400) {
    const isOurs = typeof found?.code === "string" && typeof found.detail === "string";
    const text = isOurs ? found.detail : `The server answered ${reply.status}.`;
    if (isAway(reply)) throw new ServerError(text);
    throw new RefusedError(text, isOurs ? found.code : "", reply.status);
  }
  const list = found?.[name];
  if (!Array.isArray(list) || list.length !== count || !list.every(isOne)) {
    throw new ServerError("Expected a reply of `dpbandits serve`: is the address right?");
  }
  return list;
}

/** The pairs of a decision and its reward. The platform's own error would show what is none. */
function pairsIn(tells) {
  const pairs = typeof tells?.[Symbol.iterator] === "function" ? Array.from(tells) : [null];
  if (pairs.every(Array.isArray)) return pairs;
  throw new TypeError("Expected a list of pairs, each a decision and its reward. Nothing was sent.");
}

/** The id of a decision, or what is one already; "" of a fallback decision. */
function idOf(decision) {
  const id = typeof decision === "string" ? decision : decision?.id;
  if (typeof id === "string" && (ID.test(id) || (id === "" && decision !== ""))) return id;
  throw new TypeError("Expected a decision, as ask() gives it, or its id. Nothing was sent.");
}

function checkedReward(reward) {
  const isList = Array.isArray(reward);
  const parts = Array.from(isList ? reward : [reward], (part) => (typeof part === "boolean" ? +part : part));
  if (parts.length > 0 && parts.every((part) => Number.isFinite(part))) return isList ? parts : parts[0];
  throw new RewardError("Expected a reward that is a number, or a list of them. Nothing was sent.");
}
