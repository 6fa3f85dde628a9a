// The client for central trust beside a server of the Python package:
//   node live.js ADDRESS TOKEN TOKEN-OF-CONTEXTS
// prints what tests/clients/test_javascript.py compares.

import { Campaign } from "../src/campaign.js";

const [url, token, contexts] = process.argv.slice(2);
const trial = new Campaign(url, "trial", { token, timeout: 20, fallback: "blue" });
const decisions = await trial.ask({ count: 20 });
const statuses = await trial.tellMany(decisions.map((decision, at) => [decision, at % 2]));
const one = await trial.ask({ key: "visit 7", eligible: ["green"] });
const again = await trial.ask({ key: "visit 7", eligible: ["green"] });
statuses.push(await trial.tell(one, 1), await trial.tell(again.id, 0));
const refused = [];
for (const call of [
  () => trial.ask({ eligible: ["purple"] }),
  async () => trial.tell(await trial.ask(), [1, 0, 0]),
  () => new Campaign(url, "other", { token }).ask(),
  () => new Campaign(url, "trial").ask(),
]) {
  refused.push(await call().then((found) => found, (error) => [error.name, error.code]));
}
const videos = new Campaign(url, "videos", { token: contexts, timeout: 20 });
const visits = [await videos.ask({ context: [0.3, 0.5] })];
visits.push(await videos.ask({ context: { q: 0.5, p: 0.3 } }));
visits.push(...(await videos.ask({ count: 2, context: [[0.1, 0.2], [0, -0.5]] })));
statuses.push(...(await videos.tellMany(visits.map((decision) => [decision, 1]))));
refused.push(await videos.ask({ context: [0.9, 0.9] }).catch((error) => [error.name, error.code]));
console.log(JSON.stringify({ labels: decisions.map(({ label }) => label), one, statuses, refused }));
