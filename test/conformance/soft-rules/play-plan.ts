import type { Plan } from "#core/model/plan.ts";
import { startScheduler } from "#lab/world/actors/scheduler.ts";
import { startVolumes } from "#lab/world/actors/volumes.ts";
import { createLabWorld } from "#lab/world/world.ts";
import { type ApiObject, KINDS } from "#manifests/api-object.ts";
import { type Amounts, amounts, type Labels, nameOf, plus, type RawJson, requestsOf } from "../../support/scheduling/judge-rules.ts";
import { existingMachines, possibleNodes } from "../../support/scheduling/machines.ts";

/** A pod on its node. */
export interface Placed {
  readonly pod: RawJson;
  readonly labels: Labels;
  readonly taints: readonly RawJson[];
}

/** Where the pods of a scenario are, and which of them the plan placed. */
export interface Placement {
  readonly placed: readonly Placed[];
  /** Planned pods that have no node. */
  readonly unplaced: readonly string[];
}

interface PlayedNode {
  readonly name: string;
  readonly labels: Labels;
  readonly taints: readonly RawJson[];
  readonly allocatable: Amounts;
  /** Pods that run there before the plan. */
  readonly running: readonly RawJson[];
  /** Pods that the plan puts there. */
  readonly planned: readonly RawJson[];
}

/** The nodes of a plan once they are there; a NodeClaim becomes the cheapest node that it may become. */
function nodesOf(scenario: RawJson, plan: Plan): readonly PlayedNode[] {
  const byName = new Map<string, RawJson>(scenario.pods.map((pod: RawJson) => [nameOf(pod), pod]));
  const podsOf = (names: readonly string[]): RawJson[] => names.flatMap((name) => byName.get(name) ?? []);
  const onExisting = new Map(plan.existingNodes.map(({ name, pods }) => [name, podsOf(pods)]));
  const present = [...existingMachines(scenario).values()].map(({ name, labels, taints, pods }): PlayedNode => {
    const node = scenario.nodes?.find((one: RawJson) => one.metadata.name === name);
    const claim = scenario.nodeClaims?.find((one: RawJson) => one.metadata.name === name || one.status?.nodeName === name);
    const allocatable = { ...amounts(claim?.status?.allocatable), ...amounts(node?.status?.allocatable) };
    return { name, labels, taints, allocatable, running: pods, planned: onExisting.get(name) ?? [] };
  });
  const bought = plan.newNodeClaims.flatMap((claim, i): PlayedNode[] => {
    const [cheapest] = possibleNodes(scenario, claim).sort((a, b) => a.price - b.price);
    if (cheapest === undefined) return [];
    const name = `new-${i}`;
    const planned = podsOf(claim.pods);
    // Pods of DaemonSets take their part of the node before other pods come.
    const held = [claim.requests, ...Object.values(cheapest.type.overhead ?? {})].map(amounts);
    const free = [amounts(cheapest.type.capacity), ...planned.map(requestsOf)].reduce(plus, {});
    const allocatable = Object.fromEntries(
      Object.entries(free).map(([resource, n]) => [resource, held.reduce((rest, one) => rest - (one[resource] ?? 0), n)]),
    );
    const { taints = [] } = scenario.nodePools.find((pool: RawJson) => pool.metadata.name === claim.nodePool).spec.template.spec;
    return [{ name, labels: { ...cheapest.labels, "kubernetes.io/hostname": name }, taints, allocatable, running: [], planned }];
  });
  return [...present, ...bought];
}

/** Every pod where the plan wants it, as after kube-scheduler has followed all nominations. */
export function asPlanned(scenario: RawJson, plan: Plan): Placement {
  const placed = nodesOf(scenario, plan).flatMap(({ running, planned, ...node }) =>
    [...running, ...planned].map((pod) => ({ ...node, pod })),
  );
  return { placed, unplaced: [] };
}

/**
 * Every planned pod where the lab's kube-scheduler puts it by its scores, when all nodes of the plan are there and
 * nobody tells it the plan. Pods that the plan leaves are not played.
 */
export async function asScheduled(scenario: RawJson, plan: Plan): Promise<Placement> {
  const world = createLabWorld({ seed: 1, start: Date.parse(scenario.now ?? "2026-01-01T00:00:00Z") });
  const nodes = nodesOf(scenario, plan);
  const apply = (kind: string, objects: readonly RawJson[] = []): void => {
    for (const object of objects) world.apply({ apiVersion: KINDS[kind]?.apiVersion ?? "v1", ...object, kind } as ApiObject);
  };
  apply("Namespace", scenario.namespaces);
  apply("StorageClass", scenario.storageClasses);
  apply("PersistentVolume", scenario.persistentVolumes);
  apply("PersistentVolumeClaim", scenario.persistentVolumeClaims);
  for (const { name, labels, taints, allocatable, running } of nodes) {
    apply("Node", [
      { metadata: { name, labels }, spec: { taints }, status: { allocatable, conditions: [{ type: "Ready", status: "True" }] } },
    ]);
    apply("Pod", running);
  }
  startScheduler(world);
  startVolumes(
    world,
    nodes.flatMap(({ labels }) => labels["topology.kubernetes.io/zone"] ?? []),
  );
  const planned = nodes.flatMap((node) => node.planned);
  apply(
    "Pod",
    planned.map(({ status: _, ...pod }) => ({ ...pod, spec: { ...pod.spec, nodeName: undefined } })),
  );
  await world.clock.run({ idle: 60_000 });
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const nodeOf = ({ metadata: { name, namespace = "default" } }: RawJson): PlayedNode | undefined =>
    byName.get((world.store.get("Pod", name, namespace) as RawJson)?.spec.nodeName);
  return {
    placed: [
      ...nodes.flatMap((node) => node.running.map((pod) => ({ ...node, pod }))),
      ...planned.flatMap((pod) => {
        const node = nodeOf(pod);
        return node === undefined ? [] : [{ ...node, pod }];
      }),
    ],
    unplaced: planned.filter((pod) => nodeOf(pod) === undefined).map(nameOf),
  };
}
