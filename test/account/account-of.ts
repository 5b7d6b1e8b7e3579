import { readFileSync } from "node:fs";
import type { Statement } from "../e2e/iam/policy.ts";
import type { AccountSettings } from "./rules.ts";

export const ACCOUNT = "111122223333";
export const REGION = "us-west-2";
export const NODE_ROLE = "KarpenterNodeRole-c1";

const list = <T>(value: T | readonly T[]): readonly T[] => (Array.isArray(value) ? value : [value as T]);

/** The policy of the person who installs, which docs/security.md includes. */
export function installersPolicy(): readonly Statement[] {
  const text = readFileSync("docs/examples/installer-policy.json", "utf8");
  const { Statement: statements } = JSON.parse(text) as {
    readonly Statement: readonly (Statement & { readonly Resource: string | string[] })[];
  };
  return statements.map((one) => ({ ...one, Action: list<string>(one.Action), Resource: list<string>(one.Resource) }));
}

/** An account in which everything is ready for cluster c1, with what a test changes. */
export const accountWith = (changed: Partial<AccountSettings> = {}): AccountSettings => ({
  ...{ region: REGION, account: ACCOUNT, lambdaLimit: 1_000, hooks: {}, identity: installersPolicy(), scp: [] },
  ...{ clusters: { c1: "API" }, logGroups: { "/aws/eks/c1/cluster": 0 }, keys: {}, subnets: [], missingTypes: [] },
  roles: [NODE_ROLE, "AWSServiceRoleForEC2Spot"],
  accessEntries: [`c1 arn:aws:iam::${ACCOUNT}:role/${NODE_ROLE}`],
  ...changed,
});
