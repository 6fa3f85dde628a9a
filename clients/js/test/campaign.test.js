// The client for central trust, beside a server that is away in every way.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import test from "node:test";

import { Campaign, RefusedError, RewardError, ServerError } from "../src/index.js";

/** A server that keeps its promises, and whose replies are lost in the way that `away` says. */
class FakeServer {
  calls = [];
  made = new Map(); // by key, the decisions
  statuses = new Map(); // by id, what became of it
  away = []; // for the next calls: "hang", "cut", "late" (done, and then cut), a status, where it moved, or ""

  async reply(path, body) {
    const what = path.split("/").at(-1);
    this.calls.push(what);
    const how = this.away.shift() ?? "";
    if (typeof how === "number") return [how, { code: "store", detail: "Away." }];
    if (how === "hang" || how === "cut") return how;
    if (typeof how === "object") return [how.status, {}, how.location];
    const found = this[what](body);
    return how === "late" ? "cut" : [200, found];
  }

  ask({ count, key, context, eligible }) {
    Object.assign(this, { context, eligible });
    if (!this.made.has(key)) {
      const ids = Array.from({ length: count }, () => this.newId());
      this.made.set(key, ids.map((id) => ({ id, label: "green", learn: true })));
    }
    return { decisions: this.made.get(key) };
  }

  newId() {
    const id = `${this.statuses.size}`.padStart(32, "0");
    this.statuses.set(id, "waiting");
    return id;
  }

  #resolve(ids, as) {
    const results = ids.map((id) => {
      const waits = this.statuses.get(id) === "waiting";
      if (waits) this.statuses.set(id, as);
      return { id, status: waits ? "recorded" : "already" };
    });
    return { results };
  }

  tell(tells) {
    this.rewards = tells.map(({ reward }) => reward);
    return this.#resolve(tells.map(({ id }) => id), "told");
  }

  void({ ids }) {
    return this.#resolve(ids, "void");
  }
}

/** Run a test beside a fake server. */
function beside(name, work) {
  test(name, async () => {
    const fake = new FakeServer();
    const server = createServer((request, response) => {
      const parts = [];
      request.on("data", (part) => parts.push(part));
      request.on("end", async () => {
        const reply = await fake.reply(request.url, JSON.parse(Buffer.concat(parts) || "[]"));
        if (reply === "cut") response.destroy();
        if (!Array.isArray(reply)) return;
        fake.token = request.headers.authorization;
        const moved = reply[2] === undefined ? {} : { Location: reply[2] };
        response.writeHead(reply[0], { "Content-Type": "application/json", ...moved });
        response.end(JSON.stringify(reply[1]));
      });
    });
    await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
    const url = `http://127.0.0.1:${server.address().port}`;
    try {
      await work(fake, (options) => new Campaign(url, "trial", { timeout: 20, ...options }));
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
}

const count = (fake, status) => [...fake.statuses.values()].filter((one) => one === status).length;

beside("asks and tells are made again under one key", async (fake, campaign) => {
  const trial = campaign({ token: "dpb_x" });
  fake.away = ["late", 503];
  const decision = await trial.ask();
  assert.equal(fake.made.size, 1);
  assert.equal(fake.token, "Bearer dpb_x");
  fake.away = ["late"];
  assert.equal(await trial.tell(decision, 1), "already");
  const several = await trial.ask({ count: 2, key: "visit 7" });
  assert.deepEqual(await trial.ask({ count: 2, key: "visit 7" }), several);
  assert.deepEqual(
    await trial.tellMany([[several[0], 0.5], [several[1].id, [1, 0]]]), ["recorded", "recorded"],
  );
  assert.deepEqual([count(fake, "told"), count(fake, "waiting")], [3, 0]);
});

beside("contexts are sent as they are, and only if they are numbers", async (fake, campaign) => {
  const trial = campaign();
  for (const context of [[0.1, -0.2], { age: 0.1 }, [[0.1], [0.2]], [{ age: 0 }]]) {
    await trial.ask({ count: Array.isArray(context[0]) ? 2 : 1, context });
    assert.deepEqual(fake.context, context);
  }
  await trial.ask();
  assert.equal(fake.context, undefined);
  fake.away = [503];
  const [context, eligible] = [[0.1], ["green"]];
  const asked = trial.ask({ context, eligible }); // and is made again as it was
  [context[0], eligible[0]] = [0.9, "blue"];
  await asked;
  assert.deepEqual([fake.context, fake.eligible], [[0.1], ["green"]]);
  const calls = fake.calls.length;
  for (const context of [[0.1, NaN], { age: Infinity }, ["0.1"], [null], "0.1", 1, null, [[1], [true]]]) {
    await assert.rejects(trial.ask({ context }), TypeError);
  }
  assert.equal(fake.calls.length, calls, "nothing is sent");
});

for (const how of ["hang", "cut", "late", 503, 500]) {
  beside(`a fallback arm while the server is away: ${how}`, async (fake, campaign) => {
    const trial = campaign({ fallback: "blue", timeout: how === "hang" ? 1 : 20 });
    fake.away = [how, how];
    const decision = await trial.ask({ user: "anna" });
    const { id, label, learn } = decision;
    assert.deepEqual([id, label, learn], ["", "blue", false]);
    const calls = fake.calls.length;
    assert.equal(await trial.tell(decision, 1), "unknown");
    assert.equal(fake.calls.length, calls, "nothing is sent");
    // at the next contact, what may have been made is void
    fake.away = [];
    const next = await trial.ask();
    assert.equal(next.label, "green");
    assert.deepEqual([count(fake, "void"), count(fake, "waiting")], [1, 1]);
    assert.equal(await trial.tell(next, 1), "recorded");
    assert.deepEqual(fake.calls.slice(calls), ["ask", "ask", "void", "tell"]);
  });
}

beside("a fallback decision among others", async (fake, campaign) => {
  const trial = campaign({ fallback: 3 });
  fake.away = [503, 503];
  const [lost] = await trial.ask({ count: 1 });
  assert.equal(lost.action, 3);
  const known = await trial.ask();
  const told = await trial.tellMany([[lost, 1], [known, 1], [lost, 0]]);
  assert.deepEqual(told, ["unknown", "recorded", "unknown"]);
});

beside("an ask of one's own key that came through at last is not void", async (fake, campaign) => {
  const trial = campaign({ fallback: "blue" });
  fake.away = ["late", "late"];
  assert.equal((await trial.ask({ key: "visit 7" })).label, "blue");
  const decision = await trial.ask({ key: "visit 7" });
  assert.equal(await trial.tell(decision, 1), "recorded");
  assert.equal(count(fake, "void"), 0);
});

beside("without a fallback it is an error", async (fake, campaign) => {
  fake.away = ["cut", 503, "cut", "hang"];
  await assert.rejects(campaign({ timeout: 1 }).ask(), ServerError);
  assert.deepEqual(fake.calls, ["ask", "ask", "ask", "ask"]);
  fake.away = [404];
  const error = await campaign({ fallback: "blue" }).ask().catch((found) => found);
  assert.ok(error instanceof RefusedError);
  assert.equal(error.status, 404);
});

beside("an ask that was never sent is not made again", async (fake, campaign) => {
  let port = 2; // at which there is no server at all
  const elsewhere = (url, request) => fetch(Object.assign(new URL(url), port && { port }), request);
  const trial = campaign({ fallback: "blue", fetch: elsewhere });
  assert.equal((await trial.ask({ count: 2 })).length, 2);
  port = null;
  await trial.ask();
  assert.deepEqual(fake.calls, ["ask"]);
});

beside("what is no reward is not sent and not shown", async (fake, campaign) => {
  const trial = campaign();
  const decision = await trial.ask();
  const calls = fake.calls.length;
  for (const reward of ["0.731", Number.NaN, Infinity, null, undefined, { reward: 0.731 }, [], 731n]) {
    const error = await trial.tell(decision, reward).catch((found) => found);
    assert.ok(error instanceof RewardError);
    assert.doesNotMatch(`${error.message}${error.stack}`, /731/);
  }
  for (const wrong of ["blue", "", null, 7, {}]) {
    await assert.rejects(trial.tell(wrong, 1), /Expected a decision/);
  }
  for (const wrong of [[decision, 1], [0.731], { [decision.id]: 1 }, decision, 0.731, "0", null]) {
    await assert.rejects(trial.tellMany(wrong), { name: "TypeError", message: /^Expected a list of pairs/ });
  }
  assert.equal(fake.calls.length, calls);
  for (const options of [{ timeout: 0 }, { timeout: "2" }, { fallback: "" }, { fallback: 0.5 }]) {
    assert.throws(() => new Campaign("http://localhost", "trial", options));
  }
});

beside("true and false are told as 1 and 0", async (fake, campaign) => {
  const trial = campaign();
  const several = await trial.ask({ count: 3 });
  await trial.tellMany(several.map((one, at) => [one, [true, false, [true, 0.5]][at]]));
  assert.deepEqual(fake.rewards, [1, 0, [1, 0.5]]);
});

beside("a misspelt option is an error, and nothing is sent", async (fake, campaign) => {
  assert.throws(() => campaign({ fall_back: "blue" }), /options token, timeout, fallback, fetch; got fall_back/);
  for (const wrong of [{ eligable: ["blue"] }, 5, "anna", null]) {
    await assert.rejects(campaign().ask(wrong), /Expected the options count/);
  }
  assert.deepEqual(fake.calls, []);
});

/** A campaign whose server gives these replies, one after the other; sent: what it got. */
function replying(...replies) {
  const sent = [];
  const fetch = async (url, request) => {
    sent.push([`${url}`.split("/").at(-1), JSON.parse(request.body)]);
    const [status, said] = replies.shift() ?? [503, ""];
    return new Response(typeof said === "string" ? said : JSON.stringify(said), { status });
  };
  return [(options) => new Campaign("http://localhost", "trial", { fetch, ...options }), sent];
}

const made = (many, at = 0) =>
  Array.from({ length: many }, (_, each) => ({ id: `${at + each}`.padStart(32, "0") }));
const ONE = "0".repeat(32);

test("what is no reply of a server is an error", async () => {
  const strange = [
    ...["<html>Log in</html>", "null", "{", { decisions: [] }, { results: [] }, { decisions: [3] }],
    ...[{ results: [null] }, { results: [{ id: ONE }] }, { decisions: made(2) }, { decisions: {} }],
  ];
  for (const call of [(trial) => trial.ask(), (trial) => trial.tell(ONE, 1)]) {
    for (const reply of [...strange.map((said) => [200, said]), [302, ""]]) {
      const [campaign] = replying(reply);
      await assert.rejects(call(campaign()), (error) => {
        return error instanceof ServerError && /is the address right/.test(error.message);
      });
    }
    // such a program may say again what it was sent
    for (const said of [{ detail: "got 0.731" }, { detail: [{ input: 0.731 }], code: "x" }]) {
      const [campaign] = replying([422, said]);
      await assert.rejects(call(campaign()), { name: "RefusedError", message: /answered 422/ });
    }
  }
});

for (const status of [302, 303, 307, 308]) {
  beside(`a reward goes to no other server than its own: ${status}`, async (fake, campaign) => {
    const decision = await campaign().ask();
    const calls = fake.calls.length;
    fake.away = [{ status, location: "/elsewhere/tell" }];
    await assert.rejects(campaign().tell(decision, 1), ServerError);
    assert.deepEqual(fake.calls.slice(calls), ["tell"]);
  });
}

test("a redirect is no server that is away, in a browser either", async () => {
  let calls = 0; // a browser says nothing of a redirect that it does not follow, but that there is one
  const fetch = async () => {
    calls += 1;
    return Response.error(); // of status 0, too
  };
  const trial = new Campaign("http://localhost", "trial", { fetch, fallback: "blue" });
  await assert.rejects(trial.ask(), { name: "ServerError", message: /is the address right/ });
  assert.equal(calls, 1);
});

test("what has succeeded does not fail for decisions that nobody got", async () => {
  for (const strange of [[200, "<html>"], [302, ""], [503, ""]]) {
    const [campaign, sent] = replying(
      ...[[503, ""], [503, ""], [200, { decisions: made(1) }], strange],
      ...[[200, { results: [{ status: "recorded" }] }], [200, { decisions: made(1, 7) }]],
      ...[[200, { results: [{ status: "recorded" }] }]],
    );
    const trial = campaign({ fallback: "blue" });
    await trial.ask();
    assert.equal((await trial.ask()).id, ONE);
    assert.equal(await trial.tell(ONE, 1), "recorded"); // and they are void at this contact
    assert.deepEqual(sent.slice(-2).map(([what]) => what), ["ask", "void"]);
    assert.deepEqual(sent.at(-1)[1].ids, made(1, 7).map(({ id }) => id));
  }
});

test("decisions of a reply that cannot be read are void at the next contact", async () => {
  const [campaign, sent] = replying(
    ...[[200, "{"], [200, { decisions: made(1) }], [200, { decisions: made(1, 7) }]],
    ...[[200, { results: [{ status: "recorded" }] }]],
  );
  const trial = campaign();
  await assert.rejects(trial.ask(), ServerError);
  await trial.ask();
  assert.deepEqual(sent.map(([what]) => what), ["ask", "ask", "ask", "void"]);
  assert.equal(sent[2][1].key, sent[0][1].key);
});

test("many decisions that nobody got are void in several calls", async () => {
  const many = made(10_001);
  const results = many.map(() => ({ status: "recorded" }));
  const [campaign, sent] = replying(
    ...[[503, ""], [503, ""], [200, { decisions: made(1) }], [200, { decisions: many }]],
    ...[[200, { results: results.slice(1) }], [200, { results: results.slice(0, 1) }]],
  );
  const trial = campaign({ fallback: "blue" });
  await trial.ask({ count: 10_001 });
  await trial.ask();
  const void_ = sent.filter(([what]) => what === "void").map(([, { ids }]) => ids);
  assert.deepEqual(void_.map((ids) => ids.length), [10_000, 1]);
  assert.deepEqual(void_.flat(), many.map(({ id }) => id));
});

test("holes, maps and users that JSON has not are not sent", async () => {
  const [campaign, sent] = replying();
  const trial = campaign();
  for (const reward of [[1, , 0], Array(2)]) await assert.rejects(trial.tell(ONE, reward), RewardError);
  for (const context of [[0.1, , 0.2], Array(2), new Map([["age", 1]]), new Date(), new Float64Array(2)]) {
    await assert.rejects(trial.ask({ context }), TypeError);
  }
  for (const user of [NaN, Infinity, 0.5, 2 ** 60, 7n, {}, ["anna"], true]) {
    await assert.rejects(trial.ask({ user }), TypeError);
  }
  assert.deepEqual(sent, []);
});

test("a key that no request can carry is refused at once, and not shown", () => {
  // with a fallback arm, the server would else seem to be away for ever
  for (const token of ["dpb_x\ndpb_y", "dpb_\u00e9\u2192", "dpb x", "", null, 7]) {
    assert.throws(() => new Campaign("http://localhost", "trial", { token, fallback: "blue" }), (error) => {
      return error instanceof TypeError && !error.message.includes("dpb");
    });
  }
});

test("an address that no request can go to is refused at once, and not shown", () => {
  for (const url of ["http://anna:pw@localhost", "http://anna:pw@local host", "ftp://pw", "pw", "localhost:8080"]) {
    assert.throws(() => new Campaign(url, "trial", { fallback: "blue" }), (error) => {
      return error instanceof TypeError && !JSON.stringify([error.message, error]).includes("pw");
    });
  }
});

test("as long a timeout as one likes", async () => {
  const fetch = (_, { signal }) =>
    new Promise((resolve, reject) => {
      signal.onabort = () => reject(signal.reason);
      setTimeout(resolve, 20, new Response(JSON.stringify({ decisions: made(1) })));
    });
  for (const timeout of [1e7, 1e20]) {
    const trial = new Campaign("http://localhost", "trial", { timeout, fetch });
    assert.equal((await trial.ask()).id, ONE);
  }
});
