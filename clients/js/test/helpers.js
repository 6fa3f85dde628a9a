// What the tests of Node and of the browser share.

export const CAMPAIGN = "films";

export function description(changes = {}) {
  return JSON.stringify({
    version: 1,
    campaign: CAMPAIGN,
    randomizer: "LocalLaplace",
    epsilon: "1",
    grid: { steps: 8, rounding: "nearest" },
    width: 2,
    ...changes,
  });
}

export function decision(id, action, observe = null, campaign = CAMPAIGN) {
  return JSON.stringify({ version: 1, campaign, id, action, observe });
}

/** The error that this makes. */
export async function refused(call) {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error("Expected an error, got none.");
}

export function equal(found, expected) {
  if (!Object.is(found, expected)) throw new Error(`Expected ${expected}, got ${found}.`);
}
