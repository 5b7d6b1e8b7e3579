// What an upgrade changes of a stack, in words.
// In: the changes that CloudFormation has computed. Out: a line for each, and what a replacement means. No check asks
// anybody or changes anything.

/** A change of one resource, as CloudFormation computes it. */
export interface Change {
  readonly action: "Add" | "Modify" | "Remove" | "Import" | "Dynamic";
  /** The logical id in the template. */
  readonly name: string;
  /** The name, ARN or URL that the service knows; empty for one that is added. */
  readonly id: string;
  /** As in "AWS::Lambda::Function". */
  readonly type: string;
  readonly replacement: "True" | "False" | "Conditional";
  /** Properties and attributes that change, such as Code or Tags. */
  readonly what: readonly string[];
}

const KINDS: Readonly<Record<string, string>> = {
  "AWS::Lambda::Function": "function",
  "AWS::Lambda::EventSourceMapping": "event source mapping",
  "AWS::Lambda::Permission": "permission of a function",
  "AWS::Lambda::Url": "function URL",
  "AWS::SQS::Queue": "queue",
  "AWS::SQS::QueuePolicy": "policy of a queue",
  "AWS::DynamoDB::Table": "table",
  "AWS::IAM::Role": "role",
  "AWS::IAM::Policy": "policy of a role",
  "AWS::IAM::ManagedPolicy": "managed policy",
  "AWS::Scheduler::Schedule": "schedule",
  "AWS::Logs::LogGroup": "log group",
  "AWS::Logs::SubscriptionFilter": "subscription filter",
  "AWS::EKS::AccessEntry": "access entry",
  "AWS::Events::Rule": "rule",
  "AWS::SecretsManager::Secret": "secret",
};

/** What a replacement comes to, where a person would ask. */
const REPLACED: Readonly<Record<string, string>> = {
  "AWS::DynamoDB::Table": "the old table is kept, and the functions write the records of all NodeClaims again within two minutes",
  "AWS::SQS::Queue": "wake-ups that wait in the old one are lost, and the next sweep finds what they were about",
  "AWS::Lambda::Url": "API servers call the new one as soon as the manifests are applied, which this does",
  "AWS::SecretsManager::Secret": "API servers get the new one with the manifests, which this applies",
};

type Fate = "replaced" | "perhaps replaced" | "removed" | "added" | "changed";

function fateOf({ action, replacement }: Change): Fate {
  if (action === "Add" || action === "Import") return "added";
  if (action === "Remove") return "removed";
  if (action === "Dynamic") return "perhaps replaced";
  return replacement === "True" ? "replaced" : replacement === "Conditional" ? "perhaps replaced" : "changed";
}

const ORDER: readonly Fate[] = ["replaced", "perhaps replaced", "removed", "added", "changed"];

/** A line for each change: what is replaced first, then what goes, what comes, and what is changed in place. */
export function changeLines(changes: readonly Change[]): readonly string[] {
  const byFate = Map.groupBy(changes, fateOf);
  return ORDER.flatMap((fate) => (byFate.get(fate) ?? []).map((change) => line(fate, change)));
}

/** "5 changed, 1 added" */
export function changeSummary(changes: readonly Change[]): string {
  const byFate = Map.groupBy(changes, fateOf);
  return ORDER.flatMap((fate) => (byFate.has(fate) ? [`${byFate.get(fate)?.length} ${fate}`] : [])).join(", ");
}

function line(fate: Fate, { name, id, type, what }: Change): string {
  const kind = KINDS[type] ?? type.replace(/^AWS::/, "").replace("::", " ");
  const known = id === "" ? name : id.slice(Math.max(id.lastIndexOf("/"), id.lastIndexOf(":")) + 1);
  const properties = what.length === 0 ? "" : ` (${what.join(", ")})`;
  const after = fate === "replaced" || fate === "perhaps replaced" ? REPLACED[type] : undefined;
  return `${fate.padEnd(16)} ${kind} ${known}${fate === "removed" || fate === "added" ? "" : properties}${after === undefined ? "" : `: ${after}`}`;
}
