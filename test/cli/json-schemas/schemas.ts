import * as z from "zod";
import * as view from "./view-schemas.ts";

/**
 * The shapes of the JSON that commands print, by the name of the file in docs/schemas. They are strict, so that a field
 * that a command gains is missed here; the published files allow more fields, as a later version may print some.
 */

const time = z.iso.datetime().describe("RFC 3339, UTC");
const ms = z.number().int().describe("milliseconds since the epoch");
const perHour = z.number().describe("USD per hour");
const count = z.number().int().nonnegative();
const names = z.array(z.string());
const pods = names.describe('"namespace/name"');
const counts = z.record(z.string(), count);
const amounts = z.record(z.string(), z.union([z.string(), z.number()])).describe("resource to Kubernetes quantity");

const requirement = z.strictObject({
  ...{ key: z.string(), operator: z.string(), values: names.optional(), minValues: count.optional() },
});
const plannedClaim = z.strictObject({
  nodePool: z.string(),
  requirements: z.array(requirement),
  taints: z.array(z.record(z.string(), z.string())),
  instanceTypes: names.describe("all that may be launched, cheapest first"),
  requests: amounts,
  pods,
  paidFor: z.enum(["type", "family", "any"]).optional().describe("what commitment pays for its machine"),
});

const solve = z.strictObject({
  newNodeClaims: z.array(plannedClaim),
  existingNodes: z.array(z.strictObject({ name: z.string(), pods })),
  podErrors: z.record(z.string(), z.string()).describe('"namespace/name" of a pod to why no node can take it'),
  solveMillis: z.number().describe("how long the plan took, ms"),
});

const consolidate = z.strictObject({
  commands: z.array(
    z.strictObject({
      method: z.string(),
      candidates: names.describe("names of nodes"),
      replacements: z.array(plannedClaim),
      decision: z.enum(["delete", "replace"]),
      savings: perHour,
      podsMoved: count,
    }),
  ),
});

const bill = z.strictObject({
  rows: z.array(
    z.strictObject({ nodePool: z.string(), instanceType: z.string(), capacityType: z.string(), nodes: count, pricePerHour: perHour }),
  ),
  nodes: count,
  pricePerHour: perHour,
  unpriced: names.describe("nodes whose price is not known"),
});
const seconds = z.number().describe("seconds from the time of the snapshot");
const candidate = z.strictObject({
  ...{ nodeClaim: z.string(), node: z.string(), nodePool: z.string(), instanceType: z.string(), capacityType: z.string() },
  ...{ zone: z.string(), pricePerHour: perHour, pods },
});
const outcome = z.strictObject({
  bill,
  outcome: z.enum(["settled", "waiting", "unsettled"]),
  settledAfter: seconds,
  podsMoved: count,
  steps: z.array(
    z.union([
      z.strictObject({ at: seconds, kind: z.literal("purchase"), nodeClaims: names, pods: count }),
      z.strictObject({
        at: seconds,
        kind: z.literal("disruption"),
        method: z.string(),
        reason: z.string(),
        decision: z.enum(["delete", "replace"]),
        candidates: z.array(candidate),
        replacements: z.array(z.strictObject({ nodePool: z.string(), instanceTypes: names, pricePerHour: perHour, pods })),
        savings: perHour,
      }),
    ]),
  ),
  stays: z.array(z.strictObject({ node: z.string(), nodeClaim: z.string(), reason: z.string() })),
  stuck: names.describe("nodes that can never go"),
  podErrors: z.record(z.string(), z.string()),
});
const whatIf = z.strictObject({
  source: z.string(),
  now: time,
  change: names.describe("each change, as a sentence"),
  warnings: names,
  today: bill,
  leftAlone: outcome,
  changed: outcome
    .extend({
      drifted: z.array(z.looseObject({ node: z.string(), nodeClaim: z.string(), nodePool: z.string() })),
      stranded: z.record(z.string(), z.string()),
    })
    .optional(),
  fromScratch: z.strictObject({ nodes: count, pricePerHour: perHour }).optional(),
});

const text = z.string().nullable();
const lab = z.strictObject({
  pods: z.array(
    z.strictObject({
      ...{ namespace: z.string(), name: z.string(), owner: text, phase: z.string(), node: text, reason: text },
      startedAfter: z.number().nullable().describe("virtual seconds from the start of the run"),
    }),
  ),
  nodes: z.array(
    z.strictObject({
      ...{ name: z.string(), state: z.enum(["Ready", "NotReady", "NotRegistered", "NotLaunched"]), reason: text, nodePool: text },
      ...{ instanceType: text, zone: text, capacityType: text, pricePerHour: perHour.nullable(), pods: count },
    }),
  ),
  refused: z.array(z.strictObject({ kind: z.string(), namespace: z.string(), name: z.string(), message: z.string() })),
  launched: count,
  terminated: count,
  evicted: count,
  dollars: z.number().describe("USD"),
  seconds: z.number().describe("virtual time"),
});

const checks = {
  ...{ cluster: z.string(), region: z.string(), stack: z.string(), healthy: z.boolean() },
  checks: z.array(z.strictObject({ name: z.string(), level: z.enum(["ok", "note", "fault"]), text: z.string() })),
};
const status = z.strictObject({ ...checks, observed: z.looseObject({}).describe("what was read; its fields may change") });
const doctor = z.strictObject(checks);

const machine = z.strictObject({
  ...{ instanceId: z.string(), instanceType: z.string(), zone: z.string(), capacityType: z.string() },
  ...{ pricePerHour: perHour.optional(), onDemandPerHour: perHour.optional() },
});
const choice = z.strictObject({ instanceType: z.string(), capacityType: z.string(), zone: z.string(), pricePerHour: perHour });
const disrupted = z.array(candidate.omit({ pods: true }).extend({ podCount: count }));
const entry = { time, subject: z.string(), sentence: z.string(), cluster: z.string(), at: ms };
const ofClaim = { ...entry, nodeClaim: z.string(), intent: z.string(), nodePool: z.string() };
const typed = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) => z.strictObject({ type: z.literal(type), ...shape });
const attempt = count;
const joined = { ...ofClaim, node: z.string(), tookMs: z.number().optional() };
const command = { ...entry, commandId: z.string(), reason: z.string(), nodes: disrupted, how: z.string(), savesPerHour: perHour };
const ending = { ...ofClaim, node: z.string().optional(), reason: z.string() };
const historyEntry = z.discriminatedUnion("type", [
  typed("Planned", {
    ...{ ...ofClaim, reason: z.string(), commandId: z.string().optional(), pods, podCount: count, waitedMs: z.number().optional() },
    ...{ requests: amounts, choices: z.array(choice), typeCount: count, together: count, isPaidFor: z.literal(true).optional() },
  }),
  typed("Launched", { ...ofClaim, machine, commandId: z.string().optional(), attempt }),
  typed("LaunchFailed", {
    ...{ ...ofClaim, reason: z.string(), message: z.string(), unavailable: z.array(choice.omit({ pricePerHour: true })), attempt },
  }),
  typed("Adopted", { ...ofClaim, machine: machine.optional(), launchedAt: ms.optional() }),
  typed("Registered", joined),
  typed("Initialized", joined),
  typed("Disrupted", {
    ...{ ...command, method: z.string(), decision: z.enum(["delete", "replace"]), podCount: count, triedCount: count },
    replacements: z.array(z.strictObject({ nodeClaim: z.string(), nodePool: z.string(), instanceTypes: names, pricePerHour: perHour })),
    moves: z.array(z.tuple([z.string(), z.string()])).describe("pod and the NodeClaim that it moves to"),
    tried: z.array(z.strictObject({ nodes: names, savesPerHour: perHour, why: z.string() })),
  }),
  typed("DisruptionFailed", { ...command, cause: z.string(), hadBegun: z.boolean() }),
  typed("Terminating", {
    ...{ ...ending, detail: z.string().optional(), commandId: z.string().optional(), deadline: ms.optional() },
    capacityType: z.string().optional(),
  }),
  typed("Hastened", { ...ending, detail: z.string().optional(), deadline: ms }),
  typed("Removed", {
    ...{ ...ending, terminatingAt: ms, commandId: z.string().optional(), machine: machine.optional(), launchedAt: ms.optional() },
  }),
  typed("Collected", { ...ofClaim, machine, launchedAt: ms }),
  typed("PodsWaited", {
    ...{ ...entry, namespace: z.string(), owner: z.string(), pods: names, podCount: count, since: ms },
    reasons: z.array(z.strictObject({ at: ms, text: z.string() })),
  }),
  typed("PodsNominated", {
    ...{ ...ofClaim, node: z.string().optional(), isReady: z.boolean(), pods: names, podCount: count, waitedMs: z.number().optional() },
  }),
]);
const entries = z.array(historyEntry);
const history = z.strictObject({ cluster: z.string(), since: time, until: time, entries });
const why = z.strictObject({
  ...{ cluster: z.string(), now: time, kind: z.enum(["node", "nodeclaim", "pod"]), namespace: z.string().optional(), name: z.string() },
  ...{ waits: entries.optional(), moves: entries.optional(), nominations: entries.optional() },
  nodeClaims: z.array(
    z.strictObject({
      ...{ nodeClaim: z.string(), nodePool: z.string().optional(), node: z.string().optional(), machine: machine.optional() },
      ...{ launchedAt: ms.optional(), goneAt: ms.optional(), state: z.enum(["launching", "running", "terminating", "gone"]) },
      stays: z.looseObject({ why: z.string().optional(), remedy: z.string().optional() }).optional(),
      entries,
    }),
  ),
});
const sums = { nodeHours: z.number(), dollars: z.number(), onDemandDollars: z.number() };
const report = z.strictObject({
  ...{ cluster: z.string(), since: time, until: time },
  rows: z.array(z.strictObject({ day: z.iso.date(), nodePool: z.string(), capacityType: z.string(), ...sums })),
  total: z.strictObject(sums),
  ...{ launched: count, ended: count, running: count, runningPerHour: perHour, unpriced: count },
  ...{ endings: counts, launchFailures: counts, interruptions: count },
  disruptions: z.record(
    z.string(),
    z.strictObject({ commands: count, nodes: count, pods: count, savesPerHour: perHour, saved: z.number() }),
  ),
  ...{ savedByConsolidation: z.number(), savedBySpot: z.number(), waits: count, longestWaitMs: z.number() },
});

const dollars = z.record(z.string(), z.number()).describe("USD a month");
const range = z.strictObject({ low: z.number(), high: z.number() }).describe("where a remote call takes less or more time");
const cost = z.strictObject({ perMonth: z.number(), perCluster: z.number(), parts: dollars, range, peers: dollars });

const share = z.number().describe("from 0 to 1");
const observedFigures = z.strictObject({
  span: ms.describe("milliseconds"),
  dollars: z.number().describe("USD of all nodes of NodePools, or of node groups"),
  byNodePool: z.record(z.string(), z.number()).describe("USD"),
  unpriced: names.describe("nodes whose price is not known"),
  machines: z.strictObject({ mean: z.number(), most: count, bought: count }),
  moves: count.describe("pods that were replaced although their owner did not ask for fewer"),
  waits: z
    .strictObject({ pods: count, p50: z.number(), p95: z.number(), most: z.number(), sum: z.number() })
    .describe("from the creation of a pod until it was bound, s"),
  unbound: pods.describe("pods that were not bound at the end"),
  asked: z.strictObject({ cpu: share, memory: share }).describe("what pods asked for of the nodes, over time"),
});
const observe = z.strictObject({
  header: z.strictObject({
    trace: z.literal(1),
    ...{ cluster: z.string(), region: z.string(), everyMs: count, autoscaler: z.string() },
    unread: names.describe("kinds that were not read"),
  }),
  ...{ from: ms, to: ms, looks: count, assumed: names, observed: observedFigures, replayed: observedFigures },
  worse: names.describe("what would have been worse, a sentence each"),
});

/** A line of the functions' log has fields of its own beside these: docs/metrics-and-events.md, "Log lines". */
const labLog = z.looseObject({
  level: z.enum(["DEBUG", "INFO", "ERROR"]),
  time: time.describe("of the lab's clock, RFC 3339, UTC"),
  logger: z.string().describe('"controller" for lines of the functions, "lab" for what the lab itself does'),
  message: z.string(),
  controller: z.string().optional().describe("Karpenter's name of the controller"),
  reconcileID: z.string().optional().describe("one for all lines of a wake-up, a sweep or a notice"),
});

/** By the name of the file in docs/schemas: what prints or serves it, and its shape. */
export const SCHEMAS = {
  solve: { of: "solve FILE", shape: solve },
  consolidate: { of: "consolidate FILE", shape: consolidate },
  "what-if": { of: "what-if --format json", shape: whatIf },
  observe: { of: "observe --replay FILE --format json", shape: observe },
  "lab-log": { of: "lab --json, a line", shape: labLog },
  "lab-report": { of: "lab --report FILE", shape: lab },
  status: { of: "status --json", shape: status },
  doctor: { of: "doctor --json", shape: doctor },
  history: { of: "history --json", shape: history },
  why: { of: "why --json", shape: why },
  report: { of: "report --format json", shape: report },
  cost: { of: "cost --json", shape: cost },
  "view-index": { of: "view, data/index.json", shape: view.index },
  "view-overview": { of: "view, data/scenes/ID/overview.json", shape: view.overview },
  "view-pods": { of: "view, data/scenes/ID/pods.json", shape: view.pods },
  "view-past": { of: "view, data/scenes/ID/past/DAYS.json", shape: view.past },
  "view-events": { of: "view, data/scenes/ID/nodeclaims/NAME.json", shape: view.pastEvents },
} as const;

/** The file of a schema: JSON Schema 2020-12, in which objects may have more fields. */
export function published(name: keyof typeof SCHEMAS): string {
  const { of, shape } = SCHEMAS[name];
  const open = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(open);
    if (typeof value !== "object" || value === null) return value;
    const kept = Object.entries(value).filter(([key, item]) => !(key === "additionalProperties" && item === false));
    return Object.fromEntries(kept.map(([key, item]) => [key, open(item)]));
  };
  const schema = open(z.toJSONSchema(shape, { reused: "ref" })) as object;
  return `${JSON.stringify({ title: `karpenter-serverless ${of}`, ...schema }, undefined, 1)}\n`;
}
