import type { Random } from "#lab/world/random.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import type { Act, ScriptEvent } from "../script.ts";
import { chance, type DrawnWorld, drawBudgets, drawLimits } from "./world.ts";

/** A change of a NodePool: some changes drift its nodes, others change its disruption settings. */
function poolEdit(random: Random): Readonly<Record<string, unknown>> {
  const budgets = drawBudgets(random);
  const limits = drawLimits(random);
  return random.pick<Readonly<Record<string, unknown>>>([
    { template: { metadata: { labels: { "sim/generation": random.hex(4) } } } },
    { template: { metadata: { labels: { "sim/generation": random.hex(4) } } } },
    { template: { spec: { requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] }] } } },
    // Larger machines drift, and several smaller ones replace one of them.
    { template: { spec: { requirements: [{ key: "karpenter.k8s.aws/instance-cpu", operator: "In", values: ["2", "4"] }] } } },
    { disruption: { consolidateAfter: random.pick(["0s", "1m", "5m"]) } },
    { disruption: { budgets: budgets ?? [{ nodes: "10%" }] } },
    ...(limits ? [{ limits }] : []),
  ]);
}

const ZONES: readonly [string, ...string[]] = ["us-west-2a", "us-west-2b", "us-west-2c"];
const TYPES: readonly [string, ...string[]] = ["c5.large", "c5.xlarge", "m5.large", "m5.xlarge"];

function outage(random: Random): Act {
  const of = random.pick<{ readonly zone?: string; readonly instanceType?: string; readonly capacityType?: "spot" }>([
    { zone: random.pick(ZONES) },
    { instanceType: random.pick(TYPES) },
    { instanceType: random.pick(TYPES), zone: random.pick(ZONES) },
    { capacityType: "spot" },
    {},
  ]);
  return { what: "outage", of, minutes: random.pick([2, 5, 15]) };
}

/** A NodeClaim that a user creates: no NodePool, no finalizer, an available type and capacity type. */
function handMadeClaim(index: number, random: Random): ApiObject {
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: { name: `by-hand-${index}` },
    spec: {
      nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
      requirements: [
        { key: "node.kubernetes.io/instance-type", operator: "In", values: [random.pick(TYPES)] },
        { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] },
      ],
      resources: { requests: { cpu: "1" } },
    },
  };
}

/** A user deletes a NodePool, and all its nodes with it, and applies its manifest again some minutes later. */
function poolGone({ objects, pools }: DrawnWorld, at: number, random: Random): readonly ScriptEvent[] {
  const pool = random.pick(pools as unknown as [string, ...string[]]);
  const object = objects.find(({ kind, metadata }) => kind === "NodePool" && metadata.name === pool);
  const back = at + random.pick([5, 60, 400]);
  return object
    ? [
        { at, what: "delete pool", pool },
        { at: back, what: "apply", object },
      ]
    : [];
}

function drawAct({ pools, workloads }: DrawnWorld, random: Random, index: number): Act {
  const workload = random.pick(workloads as unknown as [(typeof workloads)[number], ...(typeof workloads)[number][]]);
  const scale: Act = {
    what: "scale",
    workload: workload.name,
    replicas: random.pick([0, 1, random.between(0, workload.most), random.between(0, workload.most), workload.most]),
  };
  const pick = random.next();
  const held = random.pick<string | undefined>([undefined, "true", "5m"]);
  return random.pick<Act>([
    scale,
    scale,
    scale,
    scale,
    { what: "run job", name: `job-${index}`, pods: random.between(1, 4), cpu: random.pick(["500m", "1", "2"]) },
    { what: "delete pod", pick },
    { what: "hold pod", pick, value: held },
    { what: "delete node", pick },
    { what: "delete claim", pick },
    { what: "edit pool", pool: random.pick(pools as unknown as [string, ...string[]]), spec: poolEdit(random) },
    { what: "interrupt", pick },
    { what: "interrupt", pick },
    random.pick<Act>([
      { what: "recommend rebalance", pick },
      { what: "retire machine", pick },
    ]),
    { what: "stop machine", pick },
    { what: "apply", object: handMadeClaim(index, random) },
    outage(random),
  ]);
}

/**
 * The acts of a run of `minutes`: bursts of a few acts, so that one interrupts another, with pauses in which the
 * cluster settles.
 */
export function drawActs(world: DrawnWorld, minutes: number, random: Random): readonly ScriptEvent[] {
  const acts: ScriptEvent[] = [];
  let index = 0;
  for (let at = random.between(60, 180); at < (minutes - 2) * 60; at += random.between(60, 600)) {
    let when = at;
    do {
      acts.push({ at: when, ...drawAct(world, random, index++) });
      when += random.between(1, 60);
    } while (chance(random, 0.45));
  }
  if (chance(random, 0.25)) acts.push(...poolGone(world, random.between(180, Math.max(181, (minutes - 8) * 60)), random));
  return acts;
}
