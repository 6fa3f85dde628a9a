// The user's side of local privacy, as in the Python package's dpbandits.local.
export { BrowserBudget } from "./browser_budget.js";
export { MemoryBudget, spentAfter } from "./budget.js";
export { Client } from "./client.js";
export { BudgetError, MessageError, RewardError } from "./errors.js";
