// What the package exports, for TypeScript and editors.

/** A positive exact number: "1/10", 0.1 (which stands for the decimal it is written as) or 1n. */
export type Exact = string | number | bigint;

/** An arm, by its name or number. */
export type Arm = string | number;

/** What is known of a visitor: numbers, or numbers by the features' names. It is public. */
export type Context = readonly number[] | Readonly<Record<string, number>>;

/** What became of a reward. */
export type TellStatus = "recorded" | "already" | "unknown" | "gone";

/** A decision of a campaign: play `action` and tell the reward. */
export interface Decision {
  /** 32 hexadecimal digits; "" of a fallback decision. */
  readonly id: string;
  /** The arm's number, or those of a super arm; -1 of a fallback arm that was given by its name. */
  readonly action: number | readonly number[];
  readonly round: number;
  /** The arms whose rewards are told, if not all that are played. */
  readonly observe: readonly number[] | null;
  readonly campaign: string;
  readonly label: string | readonly string[] | null;
  /** Whether anything is learned from its reward. */
  readonly learn: boolean;
  readonly propensity: number | null;
  /** In the local model: what the user's device is sent. */
  readonly message: string | null;
}

/** The reward of one decision; true and false are 1 and 0. */
export type CampaignReward = number | boolean | readonly (number | boolean)[];

export interface CampaignOptions {
  /** A bearer key with the roles ask and tell, where the server asks for one. */
  token?: string;
  /** Seconds in which the server has to answer; by default 2. */
  timeout?: number;
  /** The arm of decisions that are made while the server is away. */
  fallback?: Arm;
  /** Sends the requests, in place of the platform's. */
  fetch?: typeof fetch;
}

export interface AskOptions {
  /** Arms that may be chosen; by default all in play. */
  eligible?: readonly Arm[];
  /** For whom, where people come back. */
  user?: string | number;
  /** Which segment, of a campaign with segments. */
  segment?: string;
  /** A word of yours: the call made again with it gives the same decisions. */
  key?: string;
  /** Of a policy that decides by contexts: what is known of the visitor; with `count` one for each. */
  context?: Context | readonly Context[];
}

/** A campaign of a server with central trust. */
export class Campaign {
  constructor(url: string | URL, name: string, options?: CampaignOptions);
  readonly name: string;
  ask(options: AskOptions & { count: number }): Promise<Decision[]>;
  ask(options?: AskOptions & { count?: undefined }): Promise<Decision>;
  tell(decision: Decision | string, reward: CampaignReward): Promise<TellStatus>;
  tellMany(
    tells: Iterable<readonly [Decision | string, CampaignReward]>,
  ): Promise<TellStatus[]>;
}

/** What a device may still report, and what it has reported: over any storage. */
export interface Budget {
  spend(amount: string): void | Promise<void>;
  recall(key: string): string | null | undefined | Promise<string | null | undefined>;
  keep(key: string, answer: string): string | Promise<string>;
}

export class MemoryBudget implements Budget {
  constructor(options: { total: Exact });
  readonly total: string;
  spent(): string;
  spend(amount: string): void;
  recall(key: string): string | undefined;
  keep(key: string, answer: string): string;
}

export class BrowserBudget implements Budget {
  constructor(options: { total: Exact; name?: string });
  readonly total: string;
  spent(): Promise<string>;
  spend(amount: string): Promise<void>;
  recall(key: string): Promise<string | undefined>;
  keep(key: string, answer: string): Promise<string>;
}

/** What is spent once `amount` is, as a text; throws a BudgetError where less is left. */
export function spentAfter(amount: Exact, spent: string, total: Exact): string;

/** A reward, or after a super arm those of its arms. */
export type Reward = number | ReadonlyMap<number | bigint, number> | Readonly<Record<string, number>>;

/** One user's device in one campaign, in the local model. */
export class Client {
  constructor(description: string, options: { most: Exact; total?: Exact; budget?: Budget });
  readonly guarantee: string;
  answer(decision: string, reward: Reward, options?: { datum?: string }): Promise<string>;
}

/** A decision that a device made by a public snapshot, where contexts and decisions are private. */
export interface OwnDecision {
  readonly arm: number;
  readonly label: string | null;
  /** The place of the record in the histogram, to be reported; call it once. The reward is in the
   *  range that the session declared, [0, 1] by default. */
  index(reward: number): number;
}

/** Decide on the device. Throws a MessageError or a RangeError. */
export function decide(snapshot: string, context: Context): OwnDecision;

export class MessageError extends Error {}
export class RewardError extends Error {}
export class BudgetError extends Error {}
export class ServerError extends Error {}
export class RefusedError extends Error {
  constructor(message: string, code: string, status: number);
  readonly code: string;
  readonly status: number;
}
