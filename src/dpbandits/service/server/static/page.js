// The page: what the public JSON API says, and nothing else. Text goes into the page as text.

const main = document.getElementById("content");
const live = document.getElementById("live");
const leave = document.getElementById("leave");
const EVERY = 3000;
const LOOKS = 8;
let timer, shown = "", charts = [];

// Calls

class Problem extends Error {
  constructor(status, said) {
    super(said.detail || "The server does not answer.");
    this.status = status;
  }
}

async function call(path, body) {
  const headers = { accept: "application/json" };
  const key = sessionStorage.getItem("key");
  if (key) headers.authorization = `Bearer ${key}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  const method = body === undefined ? "GET" : "POST";
  const answer = await fetch(path, { method, headers, body: body === undefined ? body : JSON.stringify(body) });
  const kind = answer.headers.get("content-type") || "";
  const said = kind.includes("json") ? await answer.json() : await answer.text();
  if (!answer.ok) throw new Problem(answer.status, said);
  return said;
}

const at = (name, view = "", segment = null) =>
  `/v1/campaigns/${encodeURIComponent(name)}${view && "/" + view}` +
  (segment === null ? "" : `${view.includes("?") ? "&" : "?"}segment=${encodeURIComponent(segment)}`);

const here = (name, segment = null) =>
  `#/campaigns/${encodeURIComponent(name)}` + (segment === null ? "" : `/${encodeURIComponent(segment)}`);

// Elements

function el(tag, how = {}, ...inner) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(how)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...inner.flat(Infinity).filter((each) => each !== null && each !== undefined));
  return made;
}

const whole = (value) => (value === null ? "–" : value.toLocaleString("en"));
const fine = (value) => (value === null ? "–" : Number(value.toPrecision(4)).toString());
const percent = (value) => (value === null ? "–" : `${Math.round(100 * value)} %`);
const day = (seconds) => new Date(1000 * seconds).toISOString().slice(0, 16).replace("T", " ");
const number = (value, text) => el("data", { value: value === null ? "" : value }, text);

function table(caption, heads, rows) {
  const head = heads.map(([text, kind]) => el("th", { scope: "col", class: kind }, text));
  return el("div", { class: "wide" }, el("table", {},
    el("caption", { class: "hidden" }, caption), el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows)));
}

const cell = (value, text) => el("td", { class: "number" }, number(value, text));
const named = (text, place, more = null) =>
  el("th", { scope: "row" }, el("span", { class: `key look${place % LOOKS}`, "aria-hidden": "true" }), text, more);
const part = (name, title, ...inner) => el("section", { "data-part": name }, el("h2", {}, title), inner);
const figures = (summary) =>
  el("dl", { class: "figures" }, [["decisions", "asked"], ["pending", "waiting"], ["resolved", "told"], ["releases", "step"]]
    .map(([title, field]) => el("div", {}, el("dt", {}, title), el("dd", {}, number(summary[field], whole(summary[field]))))));

// Pages

async function campaigns() {
  const said = await call("/v1/campaigns");
  const cards = said.campaigns.map((each) =>
    el("li", { class: "card" },
      el("h2", {}, el("a", { href: here(each.name) }, each.name)),
      el("p", { class: "soft" }, `${each.policy}${each.closed ? ` · over: ${each.closed}` : ""}`),
      el("p", {}, each.guarantee || "No privacy is promised."),
      each.overdue ? el("p", { class: "note alarm" }, `${each.overdue} of its arms wait for overdue answers.`) : null,
      figures(each)));
  const others = said.not_shown.length
    ? el("p", { class: "note" }, `Their policies are known where they were made: ${said.not_shown.join(", ")}.`) : null;
  return ["Campaigns", [el("h1", {}, "Campaigns"), cards.length ? el("ul", { class: "cards" }, cards)
    : el("p", { class: "soft" }, "There are no campaigns yet."), others]];
}

async function campaign(name, segment = null) {
  const summary = await call(at(name, "summary", segment));
  const title = segment === null ? name : `${name}: ${segment}`;
  const inner = [el("h1", {}, title),
    segment === null ? null : el("p", {}, el("a", { href: here(name) }, `All of ${name}`)),
    el("p", { class: "soft" }, `${summary.policy} · since ${day(summary.created)}` +
      (summary.generation > 1 ? ` · generation ${summary.generation}` : "")),
    summary.closed ? el("p", { class: "note" }, `This campaign is over: ${summary.closed}` +
      (summary.closes_at ? ` · answers are waited for until ${day(summary.closes_at)} UTC` : "") +
      (summary.winner !== null ? ` · every decision shows ${summary.winner}` : "")) : null,
    el("section", { class: "promise", "aria-label": "Guarantee" },
      el("p", { class: "lead" }, summary.guarantee || "No privacy is promised: rewards are read without noise.")),
    figures(summary)];
  inner.push(...(summary.segments.length ? await parts(name, summary) : await single(name, segment, summary)));
  const text = await call(at(name, "statement", segment));
  inner.push(part("statement", "Privacy statement", el("details", {}, el("summary", {}, "To print, or to show to those it is about"), el("pre", {}, text))));
  return [title, inner];
}

async function parts(name, summary) {
  const [beliefs, alarms, options] = await Promise.all([call(at(name, "beliefs")), call(at(name, "alarms")), call(at(name, "options"))]);
  const rows = summary.segments.flatMap((segment) =>
    beliefs.segments[segment].rows.map((row, place) => el("tr", {},
      el("th", { scope: "row" }, el("a", { href: here(name, segment) }, segment)), el("td", {}, row.label),
      cell(row.people, whole(row.people)), cell(row.mean, fine(row.mean)), cell(row.low, fine(row.low)), cell(row.high, fine(row.high)))));
  const heads = [["part", ""], ["arm", ""], ["people", "number"], ["mean", "number"], ["from", "number"], ["to", "number"]];
  const said = summary.segments.flatMap((segment) => alarms.segments[segment].map((each) => `${segment}: ${words(each)}`));
  return [said.length ? part("alarms", "Alarms", said.map((text) => el("p", { class: "note alarm" }, text))) : null,
    part("arms", "Segments", table("Arms by segment", heads, rows)),
    options.holdout ? await uplift(name) : null];
}

async function uplift(name) {
  const found = await call(at(name, "uplift"));
  const rows = [found.policy, found.holdout].map((side, place) => el("tr", {}, named(side.side, place),
    cell(side.people, whole(side.people)), cell(side.mean, fine(side.mean)), cell(side.low, fine(side.low)), cell(side.high, fine(side.high))));
  const heads = [["side", ""], ["people", "number"], ["mean", "number"], ["from", "number"], ["to", "number"]];
  const difference = found.mean === null ? el("p", { class: "soft" }, "Nothing was released of both sides yet.")
    : el("p", {}, "Policy less holdout: ", number(found.mean, fine(found.mean)), ", from ", number(found.low, fine(found.low)), " to ", number(found.high, fine(found.high)), ".");
  return part("uplift", "Policy against holdout", table("Both sides", heads, rows), difference);
}

const words = (alarm) => alarm.advice ||
  `${alarm.arm} passed the guardrail's limit after ${whole(alarm.asked)} decisions` +
  (alarm.what === "suspend" ? ", and was suspended." : "; it is the last arm in play.");

async function single(name, segment, summary) {
  const get = (view) => call(at(name, view, segment));
  const beliefs = summary.features === null ? await get("beliefs") : null;
  const [alarms, history, recent, ratio, ledger, events, spent, rail, options] = await Promise.all(
    ["alarms", "history", "recent", "sample_ratio", "ledger", "events", "spent", "guardrail", "options"].map(get));
  const harm = rail === null ? null : await get("harm");
  const lift = beliefs === null || beliefs.together || beliefs.rows.length < 2 ? null : await get("lift");
  const status = new Map(summary.arms.map((each) => [String(each.arm), each.status]));
  return [
    spent === null ? null : el("p", {}, "Spent so far by the worst-off record, as the ledger adds up: ", number(spent, spent),
      summary.epsilon ? `; promised: ε = ${summary.epsilon}.` : "."),
    alarms.length ? part("alarms", "Alarms", alarms.map((each) => el("p", { class: "note alarm", role: "alert" }, words(each)))) : null,
    beliefs === null ? part("arms", "Arms", el("p", {}, `Decisions depend on ${whole(summary.features)} numbers that are known of each visitor, so an arm has no one mean.`),
      table("Arms", [["arm", ""], ["status", ""]], summary.arms.map((each, place) => el("tr", {}, named(String(each.arm), place), el("td", {}, each.status)))))
    : part("arms", "Arms", el("p", {}, beliefs.advice), arms("Arms", beliefs, status),
      beliefs.changed.length ? el("p", { class: "note" }, `The mean of ${beliefs.changed.join(", ")} has changed meanwhile.`) : null,
      beliefs.caution ? el("p", { class: "note" }, beliefs.caution) : null),
    lift === null ? null : part("lift", `Compared with ${lift.control}`, lifts(lift, beliefs),
      el("p", { class: "soft" }, `Each mean less that of ${lift.control}, and over it. All intervals hold at all times at once with confidence ${fine(lift.confidence)}.`)),
    beliefs === null ? null : part("history", "Means over time", history.length ? chart(history)
      : el("p", { class: "soft" }, "Nothing was released yet. The first release comes when the first block of answers is complete.")),
    part("traffic", "Traffic", traffic(recent), el("h3", {}, "Is traffic as planned?"), el("pre", { class: ratio.alarm ? "alarm" : "" }, ratio.words)),
    harm === null ? null : part("guardrail", "Guardrail",
      el("p", { class: "soft" }, `${rail.name}: an arm whose mean is above ${fine(rail.limit)} is suspended, once that is known at confidence ${fine(rail.confidence)}.`),
      arms("Harm", harm, new Map())),
    beliefs === null ? null : part("loss", "What has privacy cost?", loss(name, segment)),
    part("ledger", "Ledger", readings(ledger, summary)),
    part("events", "Events", events.length ? el("ul", { class: "plain" }, events.map((each) => el("li", {}, `${day(each.at)} `,
      el("strong", {}, each.what), `${each.about === null ? "" : ` ${each.about}`}${each.by ? ` by ${each.by}` : ""}, after ${whole(each.asked)} decisions`)))
      : el("p", { class: "soft" }, "Nothing was done besides asking and telling.")),
    part("options", "How it was made", el("details", {}, el("summary", {}, "Options"),
      el("dl", {}, Object.entries(options).flatMap(([key, value]) => [el("dt", {}, key), el("dd", {}, el("code", {}, String(value)))])))),
  ];
}

function arms(caption, beliefs, status) {
  const heads = [["arm", ""], ["people", "number"], ["mean", "number"], ["from", "number"], ["to", "number"]];
  const best = caption === "Arms" && !beliefs.together;
  if (best) heads.push(["best?", "number"]);
  return table(caption, heads, beliefs.rows.map((row, place) => {
    const stands = status.get(row.label);
    return el("tr", {}, named(row.label, place, stands && stands !== "active" ? el("small", {}, ` ${stands}`) : null),
      cell(row.people, whole(row.people)), cell(row.mean, fine(row.mean)), cell(row.low, fine(row.low)), cell(row.high, fine(row.high)),
      !best ? null : cell(row.chance_best, percent(row.chance_best)));
  }));
}

function lifts(lift, beliefs) {
  const heads = [["arm", ""], ...["difference", "from", "to", "ratio", "from", "to"].map((head) => [head, "number"])];
  const places = new Map(beliefs.rows.map((row, place) => [row.label, place]));
  return table("Arms against the control arm", heads, lift.rows.map((row) => el("tr", {}, named(row.label, places.get(row.label)),
    ...["difference", "low", "high", "ratio", "ratio_low", "ratio_high"].map((field) => cell(row[field], fine(row[field]))))));
}

function traffic(recent) {
  const many = Math.max(1, recent.until - recent.after);
  const rows = recent.arms.map((arm, place) => {
    const bar = el("span");
    bar.style.width = `${(100 * arm.decisions) / many}%`;
    return el("tr", {}, named(arm.label, place), cell(arm.decisions, whole(arm.decisions)),
      el("td", { class: "share" }, el("span", { class: `bar look${place % LOOKS}`, "aria-hidden": "true" }, bar)));
  });
  return [el("p", {}, "Of decisions ", number(recent.after + 1, whole(recent.after + 1)), " to ", number(recent.until, whole(recent.until)), ":"),
    table("Decisions by arm", [["arm", ""], ["shown", "number"], ["share", "share"]], rows)];
}

function readings(ledger, summary) {
  if (!ledger.length) return el("p", { class: "soft" }, "Nothing was read yet.");
  const newest = ledger.slice(-20).reverse();
  const rows = newest.map((line) => el("tr", {},
    el("td", {}, line.kind === "read" && summary.arms[line.coordinate] ? String(summary.arms[line.coordinate].arm) : "all"),
    el("td", { class: "number" }, line.kind === "read" ? `${whole(line.start + 1)} to ${whole(line.stop)}` : "–"),
    el("td", { class: "number" }, line.cost || "no noise"),
    el("td", {}, (line.kind === "read" ? "read" : "lost timeline") + (line.generation > 1 ? `, generation ${line.generation}` : ""))));
  return [el("p", {}, number(ledger.length, whole(ledger.length)), ledger.length === 1 ? " reading" : " readings",
    ledger.length > newest.length ? `; the newest ${newest.length}:` : ":"),
    table("Readings", [["arm", ""], ["rewards", "number"], ["cost", "number"], ["what", ""]], rows)];
}

function loss(name, segment) {
  const answer = el("p", { role: "status" });
  const ask = async () => {
    answer.textContent = "It is being simulated …";
    try {
      const found = await call(at(name, "expected_loss", segment));
      answer.replaceChildren(...(found === null ? ["It cannot be said, as before every arm in play has a released mean."]
        : ["The first ", number(found.people, whole(found.people)), " people are expected to have lost ", number(found.loss, fine(found.loss)),
          ", of which ", number(found.privacy, fine(found.privacy)), " to privacy, were the means what was released."]));
    } catch (error) { answer.textContent = error.message; }
  };
  return [el("button", { class: "quiet", type: "button", id: "loss", onclick: ask }, "Simulate it"), answer];
}

function chart(history) {
  const labels = history.at(-1).arms.map((arm) => arm.label);
  const xs = history.map((moment) => moment.asked);
  const data = [xs], series = [{ label: "decisions" }], bands = [];
  const style = getComputedStyle(document.documentElement);
  labels.forEach((label, place) => {
    const color = style.getPropertyValue(`--c${place % LOOKS}`).trim();
    const values = (field) => history.map((moment) => moment.arms[place]?.[field] ?? null);
    const dash = [[], [8, 3], [8, 3, 2, 3], [3, 3]][place % 4];
    data.push(values("mean"), values("high"), values("low"));
    series.push({ label, stroke: color, width: 2, dash, spanGaps: true, value: (_, v) => (v == null ? "–" : fine(v)) });
    for (const side of ["to", "from"]) series.push({ label: `${label} ${side}`, stroke: "transparent", points: { show: false }, spanGaps: true });
    const first = 1 + 3 * place;
    bands.push({ series: [first + 1, first + 2], fill: color + "1c" });
  });
  const place = el("div", { class: "chart", role: "img", "aria-label": `Released means of ${labels.join(", ")} and their 95 % intervals over decisions; the table of arms has the newest.` });
  charts.push(() => {
    const soft = style.getPropertyValue("--soft").trim(), line = style.getPropertyValue("--line").trim();
    const axis = { stroke: soft, grid: { stroke: line }, ticks: { stroke: line } };
    const width = () => Math.min(780, place.clientWidth - 16);
    const plot = new uPlot({ width: width(), height: 300, scales: { x: { time: false } }, series, bands,
      axes: [{ ...axis, label: "decisions" }, axis], legend: { show: false }, cursor: { show: false } }, data, place);
    new ResizeObserver(() => plot.setSize({ width: width(), height: 300 })).observe(place);
  });
  return el("figure", {}, place, el("figcaption", {}, labels.map((label, at) => [el("span", { class: `key look${at % LOOKS}`, "aria-hidden": "true" }), `${label}  `]),
    "Released means, and 95 % intervals that hold at all times at once."));
}

async function create() {
  const field = (id, label, value, hint = "") =>
    [el("label", { for: id }, label, hint ? el("small", {}, ` ${hint}`) : null), el("input", { id, name: id, value, required: id !== "options" })];
  const trouble = el("p", { class: "note", role: "alert", hidden: true });
  const form = el("form", { onsubmit: async (event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(form));
    try {
      const options = given.options ? JSON.parse(given.options) : {};
      const names = given.arms.split(",").map((each) => each.trim()).filter(Boolean);
      const policy = { name: given.policy, arms: names, epsilon: given.epsilon };
      await call("/v1/campaigns", { name: given.name, policy, ...options });
      location.hash = here(given.name);
    } catch (error) {
      trouble.textContent = error instanceof SyntaxError ? "Expected the options to be JSON, such as {\"min_share\": 0.01}." : error.message;
      trouble.hidden = false;
    }
  } }, field("name", "Name", ""), field("arms", "Arms", "blue, green", "separated by commas"), field("epsilon", "ε", "1"),
    field("policy", "Policy", "DPRateIMED"), field("options", "Options", "", "as JSON, times in seconds"), trouble,
    el("div", { class: "buttons" }, el("button", { id: "create" }, "Create")));
  return ["New campaign", [el("h1", {}, "New campaign"),
    el("p", {}, "What a trial is expected to lose to privacy is forecast beforehand by ", el("code", {}, "dpbandits forecast"), "."), form]];
}

async function docs() {
  const said = await call("/openapi.json");
  const rows = Object.entries(said.paths).flatMap(([path, verbs]) => Object.entries(verbs).map(([verb, about]) =>
    el("tr", {}, el("th", { scope: "row" }, `${verb.toUpperCase()} ${path}`), el("td", {}, about.description || about.summary || ""))));
  return ["API", [el("h1", {}, "API"), el("p", {}, "For programs: ", el("a", { href: "/openapi.json" }, "openapi.json"), "."),
    table("Routes", [["route", ""], ["what", ""]], rows)]];
}

async function login() {
  const form = el("form", { onsubmit: (event) => {
    event.preventDefault();
    sessionStorage.setItem("key", new FormData(form).get("key").trim());
    show();
  } }, el("label", { for: "key" }, "Key"), el("input", { id: "key", name: "key", type: "password", required: true, autocomplete: "off" }),
    el("div", { class: "buttons" }, el("button", { id: "enter" }, "Log in")));
  return ["Log in", [el("h1", {}, "Log in"), el("p", {}, "This server asks for a key. It is kept until this tab is closed."), form]];
}

// Routes

async function page() {
  const [, kind, name, segment] = location.hash.split("/").map(decodeURIComponent);
  if (kind === "new") return [create, false];
  if (kind === "docs") return [docs, false];
  if (kind === "campaigns" && name) return [() => campaign(name, segment ?? null), true];
  return [campaigns, true];
}

async function show({ again = false } = {}) {
  clearTimeout(timer);
  const hash = location.hash;
  const [make, isLive] = await page();
  leave.hidden = !sessionStorage.getItem("key");
  charts = [];
  let title, inner;
  try {
    [title, inner] = await make();
    if (again) live.textContent = `Renewed at ${new Date().toLocaleTimeString("en-GB")}.`;
  } catch (error) {
    if (error.status === 401) [title, inner] = await login();
    else if (again) live.textContent = error.message;
    else [title, inner] = ["Not possible", [el("h1", {}, "Not possible"), el("p", { class: "note", role: "alert" }, error.message)]];
  }
  if (hash !== location.hash) return;
  const used = main.contains(document.activeElement) && document.activeElement !== main;
  if (inner && !(again && used)) {
    const open = [...main.querySelectorAll("details")].map((each) => each.open);
    const top = scrollY;
    document.title = title;
    main.replaceChildren(...inner.flat(Infinity).filter(Boolean));
    if (again) [...main.querySelectorAll("details")].forEach((each, place) => { each.open = open[place] ?? false; });
    charts.forEach((draw) => draw());
    if (again) scrollTo(0, top);
    else if (shown && shown !== hash) main.focus();
    shown = hash || "#/";
    document.body.dataset.ready = shown;
  }
  if (isLive) timer = setTimeout(() => show({ again: true }), EVERY);
}

leave.addEventListener("click", () => { sessionStorage.removeItem("key"); show(); });
document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
addEventListener("hashchange", () => show());
show();
