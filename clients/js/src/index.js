// For local privacy the user's side, as in the Python package's dpbandits.local; for central trust a
// client of the server.
export { BrowserBudget } from "./browser_budget.js";
export { MemoryBudget, spentAfter } from "./budget.js";
export { Campaign } from "./campaign.js";
export { Client } from "./client.js";
export { decide } from "./snapshot.js";
export { BudgetError, MessageError, RefusedError, RewardError, ServerError } from "./errors.js";
