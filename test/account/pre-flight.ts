import type { FakeAws } from "../e2e/fake-aws/fake-aws.ts";
import { World } from "../installer/install/world.ts";
import type { Account } from "./account.ts";
import { accountWith, NODE_ROLE } from "./account-of.ts";
import { clear, found, installer } from "./installing.ts";
import type { AccountSettings } from "./rules.ts";

// The checks before an installation, each failing in turn: the sentence that the person reads, and that a FAULT changes
// nothing.

interface Case {
  readonly account?: Partial<AccountSettings>;
  readonly settings?: object;
  /** Default "FAULT". */
  readonly mark?: "FAULT" | "note";
  /** In the cluster. */
  readonly world?: (world: World) => void;
  /** The network has no tags for discovery. */
  readonly isUntagged?: true;
}

const SPOT = "AWSServiceRoleForEC2Spot";
const inVpc = (config: object): Partial<AccountSettings> => ({ described: { resourcesVpcConfig: config } });

/** By the check's name, and what is wrong. */
const CASES: readonly (readonly [check: string, what: string, one: Case])[] = [
  ["credentials", "have run out", { account: { isSignedOut: true } }],
  ["cluster", "is not there", { account: { clusters: {} } }],
  ["cluster", "is being made", { account: { described: { status: "CREATING" } } }],
  ["authentication mode", "is CONFIG_MAP", { account: { clusters: { c1: "CONFIG_MAP" }, described: {} } }],
  ["Kubernetes version", "is old", { account: { described: { version: "1.28" } } }],
  ["endpoint", "is private", { account: inVpc({ endpointPublicAccess: false }) }],
  ["endpoint", "admits some addresses", { account: inVpc({ endpointPublicAccess: true, publicAccessCidrs: ["198.51.100.0/24"] }) }],
  ["access", "is read-only", { world: (world) => void Object.assign(world, { mayInstall: false }) }],
  ["Lambda's limit", "is reserved", { account: { lambdaLimit: 10 }, settings: { notifyConcurrency: 20 } }],
  ["Lambda's limit", "is that of a new account", { mark: "note", account: { lambdaLimit: 10 } }],
  [
    "public URL",
    "is called through the cluster's VPC",
    { mark: "note", account: inVpc({ endpointPublicAccess: true, controlPlaneEgressMode: "CUSTOMER_ROUTED" }) },
  ],
  ["node role", "is not there", { account: { roles: [SPOT] } }],
  ["node role", "is there already", { settings: { createNodeRoles: true } }],
  ["node role's access", "is missing", { account: { accessEntries: [] } }],
  [
    "node role's access",
    "may be in aws-auth",
    { mark: "note", account: { accessEntries: [], clusters: { c1: "API_AND_CONFIG_MAP" }, described: {} } },
  ],
  ["subnets", "have no tag", { mark: "note", isUntagged: true }],
  ["security groups", "have no tag", { mark: "note", isUntagged: true }],
  ["spot", "was never used", { mark: "note", account: { roles: [NODE_ROLE] } }],
  [
    "Karpenter",
    "runs",
    { mark: "note", world: (world) => void Object.assign(world, { karpenter: "kube-system/karpenter-leader-election" }) },
  ],
  ["Auto Mode", "is on", { mark: "note", account: { described: { computeConfig: { enabled: true } } } }],
];

export const PRE_FLIGHT: readonly (readonly [name: string, play: (account: Account, fake: FakeAws, dir: string) => Promise<string>])[] =
  CASES.map(([check, what, one]) => [`${check} ${what}`, (account, fake, dir) => playCase(account, fake, dir, check, one)]);

async function playCase(
  account: Account,
  fake: FakeAws,
  dir: string,
  check: string,
  { account: changed, settings = {}, mark = "FAULT", world: prepare, isUntagged }: Case,
): Promise<string> {
  account.settings = accountWith(changed);
  await clear(account);
  const world = new World();
  prepare?.(world);
  const { subnets, securityGroups } = fake.state;
  const tags = [...subnets.values(), ...securityGroups.values()].map((one) => ({ one, kept: new Map(one.tags) }));
  if (isUntagged) for (const { one } of tags) one.tags.clear();
  try {
    // A note stops nothing, so only what is at fault is installed for real.
    const { text, failed, end } = await installer(dir, world)(settings, false, mark === "note");
    const told = text.split("\n").filter((line) => line.startsWith(`${mark.padEnd(6)} ${check}: `));
    if (told.length !== 1) throw new Error(`no line is marked ${mark} for ${check}:\n${text}\n${end}`);
    if (failed !== (mark === "FAULT")) throw new Error(`it ended otherwise: ${end}`);
    const { stacks, tables } = await found(account);
    if (stacks.length + tables.length + world.objects.size > 0) throw new Error("something was changed");
    return told[0] ?? "";
  } finally {
    for (const { one, kept } of tags) for (const [key, value] of kept) one.tags.set(key, value);
  }
}
