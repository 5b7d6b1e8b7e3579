import { DEFAULT_GATES, SETTINGS } from "#settings/setting-table.ts";
import { CLUSTER, DEPLOYMENT } from "./deployment-notes.ts";
import { EFFECTS, GATES, WITHOUT_EFFECT } from "./setting-notes.ts";
import { parseSettings } from "./settings.ts";

/** docs/settings.md, made from the tables. Its test writes it: `npx vitest run test/infra/settings-page.test.ts -u`. */
export function settingsPage(): string {
  const rows: Readonly<Record<string, { readonly fallback: string; readonly isOurs?: true }>> = SETTINGS;
  const effective = Object.entries(EFFECTS).map(([name, effect]) => {
    const { fallback = "", isOurs } = rows[name] ?? {};
    return [`\`${name}\``, fallback === "" ? "–" : `\`${fallback}\``, `${isOurs ? "(ours) " : ""}${effect}`];
  });
  const gates = Object.entries(GATES).map(([name, effect]) => [
    `\`${name}\``,
    `\`${DEFAULT_GATES[name as keyof typeof DEFAULT_GATES]}\``,
    effect,
  ]);
  const none = [...Map.groupBy(Object.entries(WITHOUT_EFFECT), ([, because]) => because)].map(([because, named]) => [
    named.map(([name]) => `\`${name}\``).join(", "),
    because,
  ]);
  const defaults = parseSettings({ clusters: [{ name: "any" }], region: "us-west-2" }, "defaults");
  return `${[
    "# Settings",
    FILE,
    table(["key", "default", "meaning"], keys(DEPLOYMENT, defaults)),
    "### Of each cluster",
    table(["key", "default", "meaning"], keys(CLUSTER, defaults.clusters[0] ?? {})),
    "## Karpenter's settings",
    INTRODUCTION,
    table(["setting", "default", "effect"], effective),
    "## Feature gates\n\n`FEATURE_GATES` is a list such as `SpotToSpotConsolidation=true,NodeRepair=true`.",
    table(["gate", "default", "what it brings"], gates),
    "## Without effect\n\nThese are accepted, so that what was set for Karpenter can be carried over; the synthesis warns of each.",
    table(["setting", "has no effect here because"], none),
    CHART,
  ].join("\n\n")}\n`;
}

/** Rows of keys; a key that the smallest settings file must or does give has no default. */
function keys(notes: Readonly<Record<string, string>>, defaults: object): readonly (readonly string[])[] {
  const given = new Set(["clusters", "name", "region"]);
  const values = new Map(Object.entries(defaults));
  return Object.entries(notes).map(([key, note]) => {
    const value = given.has(key) ? undefined : values.get(key);
    return [`\`${key}\``, value === undefined ? "–" : `\`${JSON.stringify(value)}\``, note];
  });
}

const FILE = `<!-- Made from infra/deployment-notes.ts and setting-notes.ts; edit there, then
npx vitest run test/infra/settings-page.test.ts -u -->
A deployment's settings are in \`infra/clusters.json\`, or in a file that \`--config\` names. A wrong value or an unknown
key fails the synthesis with one sentence.`;

const INTRODUCTION = `\`"settings"\` in \`infra/clusters.json\` takes Karpenter's settings by the names of their environment variables. A
wrong value or an unknown name fails the synthesis with one sentence, and so would each function's first start.
Durations are Go's (\`1m30s\`), booleans \`true\` or \`false\`. One deployment has one set of settings for all its
clusters; deploy another stack for clusters that need others.`;

const CHART = `## From Karpenter's Helm chart

\`settings\` of the chart's \`values.yaml\` are the same in camel case: \`batchIdleDuration\` is
\`BATCH_IDLE_DURATION\`, \`reservedENIs\` is \`RESERVED_ENIS\`, \`isolatedVPC\` is \`ISOLATED_VPC\`,
\`featureGates.nodeRepair: true\` is \`FEATURE_GATES=NodeRepair=true\`.
Charts up to 0.31 have them one level deeper: \`settings.aws.isolatedVPC\` is \`ISOLATED_VPC\`,
\`settings.aws.reservedENIs\` is \`RESERVED_ENIS\`, \`settings.aws.clusterName\` is \`CLUSTER_NAME\`.
Replicas, resources, affinity and ports of the controller have no counterpart.`;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
