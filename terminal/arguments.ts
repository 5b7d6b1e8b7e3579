/** The scenarios of `solve` and `consolidate`. */
export const SCENARIO_FILES = {
  name: "FILE",
  description:
    'a scenario in JSON, plain or gzipped; "-" is standard input. Of several files each gives one line of JSON, {"file", "plan"} or {"file", "error"}',
  isRequired: true,
  isList: true,
} as const;

export const EXPLAIN = {
  type: "flag",
  description: "for people: what is done, at what price, and why the rest is not",
} as const;

/** The settings of `solve`, `consolidate` and `what-if`. */
export const SETTING = {
  type: "list",
  value: "NAME=VALUE",
  description: "a setting of docs/settings.md, as in NODE_OVERHEAD_PRICE=0.05 (several times)",
} as const;

export const SPOT_TO_SPOT = { type: "flag", description: "replace spot nodes by cheaper spot nodes" } as const;

/** The stack whose table is used where neither --table nor --stack is given. */
export const DEFAULT_STACK = "karpenter-serverless";
