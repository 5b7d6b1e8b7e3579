import * as z from "zod";

/** The shapes of the data that a view serves: core/insight/overview/types.ts, docs/view-data.md. */

const ms = z.number().describe("milliseconds since the epoch");
const created = ms.nullable().describe("milliseconds since the epoch; null where a file does not say it");
const perHour = z.number().describe("USD per hour");
const usd = z.number().describe("USD");
const count = z.number().int().nonnegative();
const texts = z.array(z.string());

const cost = z.strictObject({
  perHour,
  onDemandPerHour: perHour.describe("USD per hour; the same instance types at the list price of on-demand"),
  unpriced: count.describe("nodes whose price is unknown; they count as 0"),
});
const pod = z.strictObject({
  ...{ namespace: z.string(), name: z.string(), node: z.string().describe("empty while the pod is not bound") },
  ...{ owner: z.string().describe("the kind of its controller"), phase: z.string(), createdAt: created },
  ...{ cpu: z.number().describe("cores"), memory: z.number().describe("bytes") },
});
const node = z.strictObject({
  ...{ name: z.string(), nodeClaim: z.string(), nodePool: z.string(), instanceType: z.string(), capacityType: z.string() },
  ...{ zone: z.string(), state: z.enum(["ready", "not ready", "starting", "leaving"]), problem: z.string().optional() },
  ...{ createdAt: created, expiresAt: ms.optional(), pricePerHour: perHour, onDemandPerHour: perHour, pods: count },
  room: z.array(z.strictObject({ name: z.string(), requested: z.number(), allocatable: z.number() })),
  fate: z.strictObject({
    ...{ verdict: z.enum(["goes", "next", "leaving", "stays", "unseen", "other"]), text: z.string(), remedy: z.string().optional() },
    details: texts,
  }),
});
const budget = z.strictObject({
  ...{ reason: z.enum(["Empty", "Underutilized", "Drifted", "Asleep"]), total: count, disrupting: count },
  ...{ limit: count.nullable().describe("null without a limit"), allowed: count.nullable(), text: z.string(), changesAt: ms.optional() },
});
const nodePool = z.strictObject({
  ...{ name: z.string(), weight: z.number(), problem: z.string().optional(), nodes: count, cost, replicas: count.optional() },
  ...{ instanceTypes: count.describe("those that it may launch"), consolidationPolicy: z.string(), consolidateAfter: z.string() },
  usage: z.array(z.strictObject({ name: z.string(), used: z.number(), limit: z.number().nullable() })),
  budgets: z.array(budget),
});
const command = z.strictObject({
  ...{ phase: z.string(), method: z.string(), reason: z.string(), decision: z.string(), since: ms, savingsPerHour: perHour },
  ...{ pods: count, nodes: texts, replacements: texts, text: z.string() },
});
const claim = z.strictObject({
  ...{
    name: z.string(),
    nodePool: z.string(),
    step: z.enum(["planned", "created", "launched", "registered"]),
    since: ms,
    createdAt: created,
  },
  ...{ instanceType: z.string(), capacityType: z.string(), zone: z.string(), pods: count },
  ...{ usualMs: z.number().optional().describe("how long the steps that are left usually take, ms"), problem: z.string().optional() },
});
export const overview = z.strictObject({
  ...{ name: z.string(), at: ms, remarks: texts, cost, pods: z.strictObject({ total: count, waiting: count }) },
  ...{ nodePools: z.array(nodePool), nodes: z.array(node), claims: z.array(claim), commands: z.array(command) },
  waiting: z.array(
    z.strictObject({
      ...{ state: z.enum(["coming", "room", "planned", "left", "other"]), text: z.string(), target: z.string().optional() },
      pods: z.array(pod),
    }),
  ),
  stepTimes: z.array(z.strictObject({ step: z.enum(["launched", "registered", "initialized"]), medianMs: z.number(), claims: count })),
});
export const pods = z.array(pod);

const costPoint = z.strictObject({ at: ms, perHour, onDemandPerHour: perHour });
const pastEvent = z.strictObject({ at: ms, kind: z.string(), title: z.string(), text: z.string() });
export const pastEvents = z.array(pastEvent);
export const past = z.strictObject({
  ...{ since: ms, until: ms, dollars: usd, onDemandDollars: usd, savedBySpot: usd, savedByConsolidation: usd },
  ...{ consolidationSavesPerHour: perHour, consolidations: count, launched: count, ended: count, interruptions: count },
  pools: z.array(z.strictObject({ nodePool: z.string(), nodeHours: z.number(), dollars: usd, onDemandDollars: usd })),
  ...{ costs: z.array(costPoint), events: pastEvents.describe("the latest first"), moreEvents: count },
});

const figures = z.strictObject({
  ...{ at: ms, cost, nodes: count, spotNodes: count, pods: count, waiting: count, left: count, claims: count },
});
const change = z.strictObject({
  ...{ change: texts, warnings: texts, bills: z.array(z.strictObject({ title: z.string(), nodes: count, perHour })) },
  lines: z.array(
    z.strictObject({
      ...{ nodePool: z.string(), instanceType: z.string(), capacityType: z.string() },
      ...{ nodes: z.array(count), perHour: z.array(perHour) },
    }),
  ),
  nodes: z.array(
    z.strictObject({
      ...{ node: z.string(), nodePool: z.string(), instanceType: z.string(), capacityType: z.string(), pricePerHour: perHour },
      ...{ change: z.enum(["stays", "goes", "new"]), at: ms.optional(), text: z.string() },
    }),
  ),
  steps: z.array(z.strictObject({ at: ms, text: z.string() })),
  ...{ outcome: z.enum(["settled", "waiting", "unsettled"]), settledAt: ms, podsMoved: count },
  left: z.array(z.strictObject({ pod: z.string(), text: z.string() })),
});
const line = z.strictObject({ at: ms, what: z.string(), which: z.string(), why: z.string(), isError: z.boolean() });
const frame = z.strictObject({ scene: z.string(), at: ms, perHour, nodes: count, lines: z.array(line) });
export const index = z.strictObject({
  version: z.literal(1),
  ...{ kind: z.enum(["live", "file", "lab", "what-if"]), title: z.string(), revision: z.number() },
  scenes: z.array(z.strictObject({ id: z.string(), name: z.string(), figures: figures.optional(), problem: z.string().optional() })),
  stories: z.array(z.strictObject({ name: z.string(), title: z.string(), start: ms, frames: z.array(frame) })).optional(),
  change: change.optional(),
  costs: z.record(z.string(), z.array(costPoint)).optional().describe("by scene"),
  past: z.record(z.string(), past).optional().describe("by scene"),
});
