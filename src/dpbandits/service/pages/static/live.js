// Numbers of a campaign's page, renewed from the JSON API. Without this script the page is whole; it
// is then as old as its loading.
const EVERY = 3000; // milliseconds
const home = document.body.dataset;
const api = `/v1/campaigns/${encodeURIComponent(home.campaign)}`;
const part = home.segment === undefined ? "" : `?segment=${encodeURIComponent(home.segment)}`;
const state = document.getElementById("live");
let step = Number(home.step);
let overdue = Number(home.overdue);

async function json(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.json();
}

function shown(value) {
  if (value === null) return "private";
  return typeof value === "number" ? value.toLocaleString("en-US") : String(value);
}

function renew(said) {
  for (const place of document.querySelectorAll("data[data-live]")) {
    const [what, field] = place.dataset.live.split(".");
    const value = said[what][field];
    place.value = value === null ? "" : String(value);
    if (place.textContent !== shown(value)) place.textContent = shown(value);
  }
}

// What changes with a release or an alarm is drawn by the server: its parts take the place of ours.
async function redraw() {
  const answer = await fetch(location.pathname + part);
  if (!answer.ok) throw new Error(String(answer.status));
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-part]")) {
    const newer = page.querySelector(`[data-part="${part.dataset.part}"]`);
    if (newer) part.replaceChildren(...document.importNode(newer, true).childNodes);
  }
  step = Number(page.body.dataset.step);
  overdue = Number(page.body.dataset.overdue);
}

async function look() {
  if (!document.hidden) {
    try {
      const [summary, guarantee] = await Promise.all([json(api + part), json(`${api}/guarantee${part}`)]);
      if (summary.step !== step || summary.overdue !== overdue) await redraw();
      renew({ summary, guarantee });
      state.textContent = "· live";
    } catch {
      state.textContent = "· the server does not answer; these numbers are older";
    }
  }
  setTimeout(look, EVERY);
}

setTimeout(look, EVERY);
