import type { FunctionName } from "../../../infra/functions.ts";

/** What a role allows though no end-to-end story makes use of it, and why it is given. */
export interface Accepted {
  readonly functions: readonly FunctionName[] | "all";
  readonly sid: string;
  /** All of the statement's actions when absent. */
  readonly action?: string;
  /** A pattern of resource patterns; all when absent. */
  readonly resource?: string;
  readonly reason: string;
}

export const NEVER_USED: readonly Accepted[] = [
  {
    functions: "all",
    sid: "WriteOwnLog",
    reason: "Lambda writes the log with the function's role; MiniStack writes it as itself",
  },
  {
    functions: "all",
    sid: "BeWoken",
    reason: "Lambda reads the queue with the function's role; MiniStack reads it as itself",
  },
];
