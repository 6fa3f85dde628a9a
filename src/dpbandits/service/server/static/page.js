// The page: what the public JSON API says, and nothing else. Text goes into the page as text.

const main = document.getElementById("content");
const live = document.getElementById("live");
const leave = document.getElementById("leave");
const EVERY = 3000;
const LOOKS = 8;
let timer, shown = "";

// Calls

class Problem extends Error {
  constructor(status, said) {
    const { detail = "The server does not answer.", errors = [] } = said ?? {};
    const unsaid = errors.map(({ where, what }) => `${where}: ${what}`).filter((each) => !detail.includes(each));
    super([...unsaid.map((each) => `${each}.`), detail].join(" "));
    this.status = status;
  }
}

async function call(path, body) {
  const headers = { accept: "application/json" };
  const key = sessionStorage.getItem("key");
  if (key) headers.authorization = `Bearer ${key}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  const method = body === undefined ? "GET" : "POST";
  const answer = await fetch(`..${path}`, { method, headers, body: body === undefined ? body : JSON.stringify(body) });
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
const percent = (value) => (value === null ? "–" : `${Math.round(100 * value)}\u00a0%`);
const rate = (value) => (value === null ? "–" : `${(100 * value).toFixed(1)}\u00a0%`);
const points = (value) => (value === null ? "–" : `${value < 0 ? "−" : "+"}${Math.abs(100 * value).toFixed(1)}`);
const day = (seconds) => new Date(1000 * seconds).toISOString().slice(0, 16).replace("T", " ");
const clock = (_, ticks, __, ___, step) => ticks.map((tick) => { const text = new Date(1000 * tick).toISOString(); return step >= 86400 ? text.slice(5, 10) : text.slice(11, step >= 60 ? 16 : 19); });
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
const resolved = ({ told, void: gone }) => (told === null ? null : told + gone);
const figures = (summary) =>
  el("dl", { class: "figures" }, [["decisions", summary.asked], ["pending", summary.waiting], ["resolved", resolved(summary)], ["policy updates", summary.step]]
    .map(([title, value]) => el("div", {}, el("dt", {}, title), el("dd", {}, number(value, whole(value))))));

// Pages

async function campaigns() {
  const { campaign: only } = await call("/v1/me");
  if (only !== null) return campaign(only); // its key shows no other
  const said = await call("/v1/campaigns");
  const running = said.campaigns.toSorted((one, other) => Boolean(one.closed) - Boolean(other.closed));
  const cards = await Promise.all(running.map(async (each) =>
    el("li", { class: "card" },
      el("h2", {}, el("a", { href: here(each.name) }, each.name)),
      el("p", { class: "soft" }, `${each.policy}${each.closed ? ` · over: ${each.closed}` : ""}`),
      el("p", {}, await standing(each)),
      el("p", { class: "soft" }, each.guarantee || "No privacy is guaranteed."),
      each.overdue ? el("p", { class: "note alarm" }, `${each.overdue} of its arms wait for overdue answers.`) : null,
      figures(each))));
  const others = said.not_shown.length
    ? el("p", { class: "note" }, `Their policies are known where they were made: ${said.not_shown.join(", ")}.`) : null;
  return ["Campaigns", [el("h1", {}, "Campaigns"), cards.length ? el("ul", { class: "cards" }, cards)
    : el("p", { class: "soft" }, "There are no campaigns yet."), others]];
}

// Which arm in play is ahead by released means, and since which release.

async function standing(summary) {
  if (summary.winner !== null) return `Every decision shows ${summary.winner}.`;
  if (summary.segments.length) return `In parts: ${summary.segments.join(", ")}.`;
  if (summary.features !== null) return "Decisions depend on what is known of each visitor.";
  const [history, beliefs, options] = await Promise.all(["history", "beliefs", "options"].map((view) => call(at(summary.name, view))));
  return ahead(history, beliefs, scale(options), summary);
}

function ahead(history, beliefs, { sign }, summary) {
  if (beliefs.best !== null) return `${beliefs.best} is the best ${beliefs.out_of_play.length ? "of the arms in play" : "arm"}, at confidence ${fine(beliefs.confidence)}.`;
  const inPlay = new Set(summary.arms.filter(({ status }) => status === "active").map(({ arm }) => String(arm)));
  const leaders = history.map(({ arms }) => arms.filter((arm) => arm.mean !== null && inPlay.has(arm.label)).reduce((best, arm) => (best === null || sign * (arm.mean - best.mean) > 0 ? arm : best), null)?.label ?? null);
  const leader = leaders.at(-1) ?? null;
  if (leader === null || beliefs.together) return leader === null ? "Nothing was released yet." : "Several arms are shown at a time; see their means.";
  if (beliefs.in_periods) return `Arms are compared within periods; no winner can be named${beliefs.is_over ? "" : " yet"}.`;
  const since = history[leaders.findLastIndex((label) => label !== leader) + 1];
  return `${leader} is ahead since ${day(since.at)} UTC; no winner can be named${beliefs.is_over ? "" : " yet"}.`;
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
      el("p", { class: "lead" }, summary.guarantee || "No privacy is guaranteed: rewards are released without noise.")),
    figures(summary)];
  inner.push(...(summary.segments.length ? await parts(name, summary) : await single(name, segment, summary)));
  const [text, options] = await Promise.all([call(at(name, "statement", segment)), call(at(name, "options"))]);
  inner.push(part("use", "Use it", snippet(name, segment, summary, options)), await actions(name, segment, summary));
  inner.push(part("statement", "Privacy statement", el("details", {}, el("summary", {}, "To print, or to show to those it is about"), el("pre", {}, text))));
  return [title, inner];
}

async function parts(name, summary) {
  const [beliefs, alarms, options] = await Promise.all([call(at(name, "beliefs")), call(at(name, "alarms")), call(at(name, "options"))]);
  const show = scale(options);
  const rows = summary.segments.flatMap((segment) => {
    const { rows, best, out_of_play: out } = beliefs.segments[segment];
    return rows.map((row) => el("tr", {},
      el("th", { scope: "row" }, el("a", { href: here(name, segment) }, segment)),
      el("td", {}, row.label, el("small", {}, out.includes(row.label) ? " out of play" : row.label === best ? " the best" : "")),
      cell(row.people, whole(row.people)), between(row.mean, row.low, row.high, show.mean)));
  });
  const heads = [["part", ""], ["arm", ""], ["rounds", "number"], ["mean", "number"]];
  const said = summary.segments.flatMap((segment) => alarms.segments[segment].map((each) => `${segment}: ${words(each)}`));
  return [said.length ? part("alarms", "Alarms", said.map((text) => el("p", { class: "note alarm" }, text))) : null,
    options.holdout ? part("arms", "Sides", table("Arms by side", heads, rows), el("p", { class: "soft" }, "95 % intervals that hold for all arms of a side, at all times at once."))
      : part("arms", "Segments", table("Arms by segment", heads, rows), el("p", { class: "soft" }, "95 % intervals that hold for all arms of a segment, at all times at once.")),
    options.holdout ? await uplift(name, show) : null];
}

async function uplift(name, show) {
  const found = await call(at(name, "uplift"));
  const rows = [found.policy, found.holdout].map((side, place) => el("tr", {}, named(side.side, place),
    cell(side.people, whole(side.people)), between(side.mean, side.low, side.high, show.mean)));
  const heads = [["side", ""], ["rounds", "number"], ["mean", "number"]];
  const difference = found.mean === null ? el("p", { class: "soft" }, found.policy.mean === null || found.holdout.mean === null ? "Nothing was released of both sides yet."
    : "With periods the sides are compared once the campaign is closed and its last answers are read.")
    : el("p", {}, "Policy less holdout: ", number(found.mean, show.difference(found.mean)), ", from ", number(found.low, show.difference(found.low)), " to ", number(found.high, show.difference(found.high)), show.isRate ? " percentage points." : ".");
  return part("uplift", "Policy against holdout", table("Both sides", heads, rows), difference,
    el("p", { class: "soft" }, "These 95 % intervals hold for both sides and their difference together, so a side's may be wider than its arm's above."),
    found.caution ? el("p", { class: "note" }, found.caution) : null);
}

const words = (alarm) => alarm.advice ||
  `${alarm.arm} passed the guardrail's limit after ${whole(alarm.asked)} decisions` +
  (alarm.what === "suspend" ? ", and was suspended. Resume it if the limit was wrong." : "; it is the last arm in play. Close the campaign, or add an arm.");

async function single(name, segment, summary) {
  const get = (view) => call(at(name, view, segment));
  const beliefs = summary.features === null ? await get("beliefs") : null;
  const [alarms, history, recent, ratio, ledger, events, spent, rail, options] = await Promise.all(
    ["alarms", "history", "recent", "sample_ratio", "ledger", "events", "spent", "guardrail", "options"].map(get));
  const harm = rail === null ? null : await get("harm");
  const lift = beliefs === null || beliefs.together || beliefs.in_periods || beliefs.rows.length < 2 ? null : await get("lift");
  const status = new Map(summary.arms.map((each) => [String(each.arm), each.status]));
  const show = scale(options);
  return [
    spent === null ? null : el("p", {}, "Privacy cost so far of the outcome that cost most, by the ledger: ", number(spent, `${summary.guarantee?.startsWith("ρ") ? "ρ" : "ε"} = ${spent}`),
      summary.epsilon ? `; the guarantee is ε = ${summary.epsilon}.` : "."),
    alarms.length ? part("alarms", "Alarms", alarms.map((each) => el("p", { class: "note alarm", role: "alert" }, words(each)))) : null,
    beliefs === null ? part("arms", "Arms", el("p", {}, `The policy decides by ${whole(summary.features)} numbers that are known of each visitor, so an arm has no one mean.`),
      table("Arms", [["arm", ""], ["status", ""]], summary.arms.map((each, place) => el("tr", {}, named(String(each.arm), place), el("td", {}, each.status)))))
    : part("arms", "Who is ahead?", el("p", { class: "lead" }, ahead(history, beliefs, show, summary)), arms("Arms", beliefs, show, status, lift),
      el("p", { class: "soft" }, `Below each number: its interval. All intervals hold together, at all times, at confidence ${fine(beliefs.confidence)}. `,
        lift === null ? "" : `Against ${lift.control}: the difference of the means${show.isRate ? ", in percentage points" : ""}.`),
      el("p", {}, beliefs.advice),
      beliefs.changed.length ? el("p", { class: "note" }, `The mean of ${beliefs.changed.join(", ")} has changed meanwhile.`) : null,
      beliefs.caution ? el("p", { class: "note" }, beliefs.caution) : null),
    beliefs === null ? null : part("history", "Over time", history.length ? [chart(history, events, show), pace(history, summary)]
      : el("p", { class: "soft" }, "Nothing was released yet. The first release comes when the first block of answers is complete.")),
    part("traffic", "Traffic", traffic(recent), el("h3", {}, "Is traffic as planned?"), el("pre", { class: ratio.alarm ? "alarm" : "" }, ratio.words)),
    harm === null ? null : part("guardrail", "Guardrail",
      el("p", { class: "soft" }, `${rail.name}: an arm whose mean is above ${fine(rail.limit)} is suspended, once that is known at confidence ${fine(rail.confidence)}.`),
      arms("Harm", harm, { mean: fine, difference: fine })),
    beliefs === null ? null : part("loss", "What has privacy cost?", loss(name, segment)),
    part("ledger", "Ledger", readings(ledger, summary)),
    part("events", "Events", events.length ? el("ul", { class: "plain" }, events.map((each) => el("li", {}, `${day(each.at)} `,
      el("strong", {}, each.what), `${each.about === null ? "" : ` ${each.about}`}${each.by ? ` by ${each.by}` : ""}, after ${whole(each.asked)} decisions`)))
      : el("p", { class: "soft" }, "No changes so far.")),
    part("options", "How it was made", el("details", {}, el("summary", {}, "Options"),
      el("dl", {}, Object.entries(options).flatMap(([key, value]) => [el("dt", {}, key), el("dd", {}, el("code", {}, typeof value === "object" ? JSON.stringify(value) : String(value)))])))),
  ];
}

// Rewards in [0, 1] are shown in per cent, others as they are. sign: -1 where less is better.

const scale = ({ rewards = "" }) => ({ sign: rewards.includes("minimise=True") ? -1 : 1,
  ...(rewards ? { mean: fine, difference: fine, isRate: false } : { mean: rate, difference: points, isRate: true }) });

const between = (value, low, high, how) =>
  el("td", { class: "number" }, number(value, how(value)), value === null ? null
    : el("small", { class: "range" }, number(low, how(low).replace("\u00a0%", "")), " to ", number(high, how(high))));

function arms(caption, beliefs, show, status = new Map(), lift = null) {
  const best = caption === "Arms" && !beliefs.together && !beliefs.in_periods;
  const heads = [["arm", ""], ["rounds", "number"], ["mean", "number"]];
  if (lift !== null) heads.push([`against ${lift.control}`, "number"]);
  if (best) heads.push(["best?", "number"]);
  const lifts = new Map((lift?.rows ?? []).map((row) => [row.label, row]));
  return table(caption, heads, beliefs.rows.map((row, place) => {
    const stands = status.get(row.label), other = lifts.get(row.label);
    return el("tr", {}, named(row.label, place, stands && stands !== "active" ? el("small", {}, ` ${stands}`) : null),
      cell(row.people, whole(row.people)), between(row.mean, row.low, row.high, show.mean),
      lift === null ? null : other ? between(other.difference, other.low, other.high, show.difference) : el("td", { class: "number soft" }, "control"),
      !best ? null : cell(row.chance_best, percent(row.chance_best)));
  }));
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
  if (!ledger.length) return el("p", { class: "soft" }, "Nothing was released yet.");
  const newest = ledger.slice(-10).reverse();
  const rows = newest.map((line) => el("tr", {},
    el("td", {}, line.kind === "read" && summary.arms[line.coordinate] ? String(summary.arms[line.coordinate].arm) : "all"),
    el("td", { class: "number" }, line.kind === "read" ? `${whole(line.start + 1)} to ${whole(line.stop)}` : "–"),
    el("td", { class: "number" }, line.cost || "no noise"),
    el("td", {}, (line.kind === "read" ? "released" : "lost by a restore") + (line.generation > 1 ? `, generation ${line.generation}` : ""))));
  return [el("p", {}, number(ledger.length, whole(ledger.length)), ledger.length === 1 ? " line" : " lines",
    ledger.length > newest.length ? `; the newest ${newest.length}:` : ":"),
    table("Releases", [["arm", ""], ["rewards", "number"], ["cost", "number"], ["what", ""]], rows)];
}

function loss(name, segment) {
  const answer = el("p", { role: "status" });
  const ask = async () => {
    answer.textContent = "Simulating …";
    answer.ariaBusy = "true";
    try {
      const found = await call(at(name, "expected_loss", segment));
      answer.replaceChildren(...(found === null ? ["Not known before every arm has a released mean, nor once arms have come or gone, nor with periods, a guardrail, recorded batches, arms for some people only, or people who keep theirs."]
        : ["The first ", number(found.people, whole(found.people)), " rounds whose outcomes were recorded are expected to have lost ", number(found.loss, fine(found.loss)),
          ", of which ", number(found.privacy, fine(found.privacy)), " to privacy, if the means are those released."]));
    } catch (error) { answer.textContent = error.message; }
    answer.ariaBusy = "false";
  };
  return [el("button", { class: "quiet", type: "button", id: "loss", onclick: ask }, "Simulate it"), answer];
}

function drawn(label, caption, make) {
  const place = el("div", { class: "chart", role: "img", "aria-label": label });
  place.draw = () => {
    const style = getComputedStyle(document.documentElement);
    const soft = style.getPropertyValue("--soft").trim(), line = style.getPropertyValue("--line").trim();
    const axis = { stroke: soft, grid: { stroke: line }, ticks: { stroke: line } };
    const width = () => Math.min(780, place.clientWidth - 16);
    const { height, data, ...how } = make(style, axis);
    const plot = new uPlot({ width: width(), height, legend: { show: false }, cursor: { show: false }, tzDate: (ts) => uPlot.tzDate(new Date(1000 * ts), "UTC"), ...how }, data, place);
    new ResizeObserver(() => plot.setSize({ width: width(), height })).observe(place);
  };
  return el("figure", {}, place, el("figcaption", {}, caption));
}

function chart(history, events, show) {
  const labels = history.at(-1).arms.map((arm) => arm.label);
  const marks = events.filter((each) => each.at >= history[0].at && each.at <= history.at(-1).at);
  return drawn(`Released means of ${labels.join(", ")} and their 95 % intervals over time; the table of arms has the newest.`,
    [labels.map((label, at) => [el("span", { class: `key look${at % LOOKS}`, "aria-hidden": "true" }), `${label}  `]), el("br"),
      `Released means, and 95 % intervals that hold at all times at once. From ${day(history[0].at)} to ${day(history.at(-1).at)} UTC.`, marks.length ? " Upright lines: events." : ""],
    (style, axis) => {
      const data = [history.map((moment) => moment.at)], series = [{}], bands = [], paths = uPlot.paths.stepped({ align: 1 }); // they stand until the next release
      labels.forEach((label, place) => {
        const color = style.getPropertyValue(`--c${place % LOOKS}`).trim();
        const values = (field) => history.map((moment) => moment.arms[place]?.[field] ?? null);
        data.push(values("mean"), values("high"), values("low"));
        series.push({ label, stroke: color, width: 2, dash: [[], [8, 3], [8, 3, 2, 3], [3, 3]][place % 4], paths, spanGaps: true, points: { show: history.length === 1 } });
        for (const side of ["to", "from"]) series.push({ label: `${label} ${side}`, stroke: "transparent", paths, points: { show: false }, spanGaps: true });
        bands.push({ series: [2 + 3 * place, 3 + 3 * place], fill: color + "1c" });
      });
      const lines = (plot) => {
        plot.ctx.strokeStyle = axis.stroke;
        for (const { at: x } of marks) {
          const left = plot.valToPos(x, "x", true);
          plot.ctx.beginPath();
          plot.ctx.moveTo(left, plot.bbox.top);
          plot.ctx.lineTo(left, plot.bbox.top + plot.bbox.height);
          plot.ctx.stroke();
        }
      };
      return { height: 300, data, series, bands, hooks: { draw: [lines] }, axes: [{ ...axis, values: clock, space: 80 }, { ...axis, size: 60, values: (_, ticks) => ticks.map(show.isRate ? percent : fine) }] };
    });
}

function pace(history, summary) {
  const moments = [{ at: summary.created, asked: 0 }, ...history].filter((each, place, all) => place === 0 || each.at > all[place - 1].at);
  if (moments.length < 3) return null;
  const hourly = moments.slice(1).map((each, place) => (each.asked - moments[place].asked) / (each.at - moments[place].at) * 3600);
  return drawn("Decisions an hour, between one release and the next.", "Decisions an hour, between one release and the next.", (style, axis) => ({
    height: 150, data: [moments.map((each) => each.at), [...hourly, null]], axes: [{ ...axis, values: clock, space: 80 }, { ...axis, size: 60, values: (_, ticks) => ticks.map((tick) => Intl.NumberFormat("en", { notation: "compact" }).format(tick)) }],
    scales: { y: { range: (_, least, most) => [0, 1.1 * most] } },
    series: [{}, { stroke: style.getPropertyValue("--c0").trim(), fill: style.getPropertyValue("--c0").trim() + "22", paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } }] }));
}

// What programs write, and what who may can do

function snippet(name, segment, summary, options) {
  const inPlay = summary.arms.find(({ status }) => status === "active") ?? summary.arms[0];
  const arm = JSON.stringify(inPlay.arm), at = JSON.stringify(new URL("..", location).href.replace(/\/$/, "")), of = JSON.stringify(name);
  if (summary.guarantee?.includes("local trust")) return el("p", {}, "An outcome becomes a report on the person's own device: the README of the JavaScript client shows how.");
  const said = [];
  if (options.segments) said.push(["segment", JSON.stringify(segment ?? summary.segments[0])]);
  if ((options.holdout || options.privacy_unit === "user") && !summary.closed) said.push(["user", "visitor"]);
  if (summary.features !== null && !summary.closed) said.push(["context", "features"]);
  const named = said.map(([key, value]) => `${key}=${value}`).join(", "), object = said.length ? `{ ${said.map((each) => each.join(": ")).join(", ")} }` : "";
  const reward = options.guardrail ? "[reward, harm]" : "reward";
  const python = `import dpbandits as dpb\n\ntrial = dpb.open_store(${at}, fallback=${arm})[${of}]\ndecision = trial.ask(${named})      # show decision.label\ntrial.tell(decision, ${reward})    # the outcome, once it is known`;
  const js = `import { Campaign } from "dpbandits-client";\n\nconst trial = new Campaign(${at}, ${of}, { token, fallback: ${arm} });\nconst decision = await trial.ask(${object});   // show decision.label\nawait trial.tell(decision, ${reward});        // the outcome, once it is known`;
  return el("details", {}, el("summary", {}, "Ask and tell from a program"), el("h3", {}, "Python"), el("pre", {}, python), el("h3", {}, "JavaScript, on a server"), el("pre", {}, js));
}

async function actions(name, segment, summary) {
  const me = await call("/v1/me");
  const may = (role) => (me.campaign === null || me.campaign === name) && (me.roles.includes(role) || me.roles.includes("admin"));
  const answer = el("p", { role: "status" });
  const button = (text, question, run) => el("button", { class: "quiet", type: "button", onclick: async () => {
    if (question !== null && !confirm(question)) return;
    try { await run(); show(); } catch (error) { answer.textContent = error.message; }
  } }, text);
  const change = (route, body) => () => call(at(name, route), { ...body, key: crypto.randomUUID?.() ?? String(Math.random()) });
  const rows = !may("admin") || summary.closed || segment !== null ? [] : summary.arms.filter((each) => each.status !== "retired").map(({ arm, status }, place) => el("tr", {}, named(String(arm), place),
    el("td", {}, status === "active" ? button("Pause", null, change("pause", { arm })) : button("Resume", null, change("resume", { arm })), " ",
      button("Retire", `Retire ${arm} for ever?`, change("retire", { arm })), " ",
      button("Close with this winner", `Close the campaign? Every further decision shows ${arm}.`, change("close", { winner: arm, why: `winner: ${arm}` })))));
  const tools = [may("read") && !summary.segments.length ? button("Export decisions", null, () => exported(name, segment)) : null,
    rows.length ? button("Close without a winner", "Close the campaign? Further decisions are refused.", change("close", { why: "closed on the page" })) : null].filter(Boolean);
  return !tools.length ? null : part("actions", "Manage", el("details", {}, el("summary", {}, "Pause, retire, close, export"),
    rows.length ? table("Changes of arms", [["arm", ""], ["", ""]], rows) : null, el("div", { class: "buttons" }, tools), answer));
}

async function exported(name, segment) {
  const files = [];
  for (let after = 0; after !== null;) {
    const view = `decisions?limit=10000&after=${after}`;
    after = (await call(at(name, view, segment))).after; // first: more decisions may come meanwhile
    const csv = await call(at(name, `${view}&format=csv`, segment));
    files.push(files.length ? csv.slice(csv.indexOf("\n") + 1) : csv);
  }
  const link = el("a", { href: URL.createObjectURL(new Blob(files, { type: "text/csv" })), download: `${name}.csv` });
  link.click();
  URL.revokeObjectURL(link.href);
}

async function create() {
  const field = (id, label, value, hint = "", more = {}) =>
    [el("label", { for: id }, label, hint ? el("small", {}, ` ${hint}`) : null), el("input", { id, name: id, value, ...more })];
  const trouble = el("p", { class: "note", role: "alert", hidden: true });
  const unit = el("select", { id: "unit", name: "unit" }, el("option", { value: "round" }, "one decision's outcome"), el("option", { value: "user" }, "all outcomes of one person"));
  const form = el("form", { onsubmit: async (event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(form));
    const share = (text) => (text.trim() === "" ? undefined : Number(text) / 100);
    const days = (text) => (text.trim() === "" ? undefined : Number(text) * 86400);
    try {
      const people = given.unit === "user" ? { privacy_unit: "user", max_contributions: Number(given.contributions), window: days(given.window) } : {};
      const names = given.arms.split(",").map((each) => each.trim()).filter(Boolean);
      const policy = { name: given.policy, arms: names, epsilon: given.epsilon };
      await call("/v1/campaigns", { name: given.name, policy, ...people, min_share: share(given.least), holdout: share(given.holdout),
        attribution_window: days(given.attribution), ...(given.options ? JSON.parse(given.options) : {}) });
      location.hash = here(given.name);
    } catch (error) {
      trouble.textContent = error instanceof SyntaxError ? "Expected the options to be JSON, such as {\"segments\": [\"DE\", \"FR\"]}." : error.message;
      trouble.hidden = false;
    }
  } }, field("name", "Name", "", "", { required: true }), field("arms", "Arms", "blue, green", "separated by commas; the first is the control", { required: true }),
    field("epsilon", "ε", "1", "smaller is more private", { required: true }),
    el("label", { for: "unit" }, "What is protected"), unit,
    field("contributions", "Decisions learned from each person", "1", "for all outcomes of one person", { type: "number", min: 1 }),
    field("window", "… in so many days", "", "empty: ever; for all outcomes of one person", { type: "number", min: 0, step: "any" }),
    field("least", "Least share of each arm, in per cent", "5", "without it a winner is seldom named", { type: "number", min: 0, max: 50, step: "any" }),
    field("attribution", "Days until an outcome is known", "", "empty: it counts when it comes; needs the server's key", { type: "number", min: 0, step: "any" }),
    field("holdout", "Holdout, in per cent", "", "people who always get the control; asks say user", { type: "number", min: 0, max: 90, step: "any" }),
    field("policy", "Policy", "DPRateIMED", "", { required: true }), field("options", "More options", "", "as JSON"), trouble,
    el("div", { class: "buttons" }, el("button", { id: "create" }, "Create")));
  return ["New campaign", [el("h1", {}, "New campaign"),
    el("p", {}, "See beforehand what privacy is expected to cost: ", el("code", {}, "dpbandits forecast"), "."), form]];
}

async function docs() {
  const said = await call("/openapi.json");
  const rows = Object.entries(said.paths).flatMap(([path, verbs]) => Object.entries(verbs).map(([verb, about]) =>
    el("tr", {}, el("th", { scope: "row" }, `${verb.toUpperCase()} ${path}`), el("td", {}, about.description || about.summary || ""))));
  return ["API", [el("h1", {}, "API"), el("p", {}, "For programs: ", el("a", { href: "../openapi.json" }, "openapi.json"), "."),
    table("Routes", [["route", ""], ["what", ""]], rows)]];
}

function login() {
  const form = el("form", { onsubmit: (event) => {
    event.preventDefault();
    sessionStorage.setItem("key", new FormData(form).get("key").trim());
    show();
  } }, el("label", { for: "key" }, "Key"), el("input", { id: "key", name: "key", type: "password", required: true, autocomplete: "off" }),
    el("div", { class: "buttons" }, el("button", { id: "enter" }, "Log in")));
  return ["Log in", [el("h1", {}, "Log in"), el("p", {}, "This server asks for a key. It is kept until this tab is closed."),
    sessionStorage.getItem("key") ? el("p", { class: "note", role: "alert" }, "It does not know this key, or the key was revoked.") : null, form]];
}

// Routes

function page() {
  const [, kind, name, segment] = location.hash.split("/").map(decodeURIComponent);
  if (kind === "new") return [create, false];
  if (kind === "docs") return [docs, false];
  if (kind === "campaigns" && name) return [() => campaign(name, segment ?? null), true];
  return [campaigns, true];
}

async function show({ again = false } = {}) {
  clearTimeout(timer);
  const hash = location.hash;
  leave.hidden = !sessionStorage.getItem("key");
  let make, title, inner, isLive = false;
  try {
    [make, isLive] = page();
    [title, inner] = await make();
    if (again) live.textContent = `Renewed at ${new Date().toLocaleTimeString("en-GB")}.`;
  } catch (error) {
    if (error.status === 401) [title, inner] = login();
    else if (again) live.textContent = error.message;
    else [title, inner] = ["Not possible", [el("h1", {}, "Not possible"), el("p", { class: "note", role: "alert" }, error.message)]];
  }
  if (hash !== location.hash) return;
  const used = (main.contains(document.activeElement) && document.activeElement !== main) || main.querySelector("[aria-busy=true]");
  if (inner && !(again && used)) {
    const open = [...main.querySelectorAll("details")].map((each) => each.open);
    const top = scrollY;
    document.title = title;
    main.replaceChildren(...inner.flat(Infinity).filter(Boolean));
    if (again) [...main.querySelectorAll("details")].forEach((each, place) => { each.open = open[place] ?? false; });
    main.querySelectorAll(".chart").forEach((place) => place.draw());
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
