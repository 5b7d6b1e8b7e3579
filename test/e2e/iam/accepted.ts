import type { FunctionName } from "#infra/functions.ts";

/** A permission that a role has although no end-to-end story uses it, and the reason. */
export interface Accepted {
  readonly functions: readonly FunctionName[] | "all";
  readonly sid: string;
  /** A pattern of actions; when absent, all actions. */
  readonly action?: string;
  /** A pattern of resource patterns; when absent, all resources. */
  readonly resource?: string;
  readonly reason: string;
}

const BY_NODE_CLASS = "an EC2NodeClass may ask for it, the stories' do not";

/** The first matching entry gives the reason. */
export const NEVER_USED: readonly Accepted[] = [
  { functions: "all", sid: "WriteOwnLog", reason: "Lambda writes the log with the function's role; MiniStack writes it as itself" },
  { functions: "all", sid: "BeWoken", reason: "Lambda reads the queue with the function's role; MiniStack reads it as itself" },
  {
    functions: ["audit"],
    sid: "Wake",
    resource: "*AuditDeadLetters*",
    reason: "Lambda sends there what no try has handled, with the function's role",
  },
  {
    functions: ["catalog"],
    sid: "Wake",
    resource: "*CatalogQueue*",
    reason: "its sweep is handed out over its queue in a stack of several clusters; the stories have one",
  },
  { functions: ["lifecycle"], sid: "LaunchFrom", resource: "*:snapshot/*", reason: BY_NODE_CLASS },
  { functions: ["lifecycle"], sid: "LaunchFrom", resource: "*:capacity-reservation/*", reason: BY_NODE_CLASS },
  { functions: ["lifecycle"], sid: "LaunchFrom", resource: "*:placement-group/*", reason: BY_NODE_CLASS },
  {
    functions: ["lifecycle"],
    sid: "LaunchTagged",
    action: "ec2:CreateLaunchTemplate",
    reason: "one statement for launch and template: what a template alone cannot make is never asked for",
  },
  {
    functions: ["lifecycle"],
    sid: "LaunchTagged",
    action: "ec2:RunInstances",
    resource: "*:fleet/*",
    reason: "a fleet is not made by RunInstances",
  },
  {
    functions: ["lifecycle"],
    sid: "LaunchTagged",
    resource: "*:launch-template/*",
    reason: "asked when a template is made; one statement for launch and template",
  },
  {
    functions: ["lifecycle"],
    sid: "EndOwn",
    action: "ec2:DeleteLaunchTemplate",
    reason: "templates are removed a day after their last use; nothing here waits so long",
  },
  {
    functions: ["lifecycle"],
    sid: "EndOwn",
    action: "ec2:TerminateInstances",
    resource: "*:launch-template/*",
    reason: "one statement for both",
  },
  { functions: ["catalog"], sid: "Describe", action: "ec2:DescribeCapacityReservations", reason: BY_NODE_CLASS },
  { functions: ["catalog"], sid: "Describe", action: "ec2:DescribePlacementGroups", reason: BY_NODE_CLASS },
  { functions: "all", sid: "ReadIntents", action: "dynamodb:BatchGetItem", reason: "a catalogue of more than 380 KB; the region's has 60" },
  {
    functions: ["catalog"],
    sid: "KeepIntents",
    action: "dynamodb:BatchWriteItem",
    reason: "a catalogue of more than 380 KB; the region's has 60",
  },
  {
    functions: "all",
    sid: "FindClusters",
    reason: "the first that needs a cluster asks EKS and writes it down for an hour; any may be the first",
  },
  {
    functions: ["lifecycle", "catalog"],
    sid: "ActForAddedClusters",
    reason: "no cluster is added in these stories; test/account/second-cluster.ts adds one, and judges what is done there",
  },
  {
    functions: ["notify", "admission"],
    sid: "ReadClusters",
    reason: "asked about a cluster that the variable does not name, as in test/account/second-cluster.ts",
  },
];
