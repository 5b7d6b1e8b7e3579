import { nodePrice } from "../../disruption/prices/price.ts";
import { fromRfc3339 } from "../../model/conditions.ts";
import type { InstanceType } from "../../model/instance-type.ts";
import type { Condition, KubernetesObject, ResourceList } from "../../model/kubernetes.ts";
import { NODE_POOL, PRICE_PER_HOUR } from "../../model/labels.ts";
import type { EC2NodeClass } from "../../model/node-class.ts";
import { parseResources, resourcesProblem } from "../../model/quantity.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { maxPricePerHour } from "../../node-pool/max-price.ts";
import type { ConditionedKind } from "./registry.ts";
import { gaugeOf, resourceLabel, type Sample } from "./sample.ts";

function amounts(name: "nodepools_limit" | "nodepools_usage", nodepool: string, list: ResourceList | undefined): readonly Sample[] {
  if (resourcesProblem(list) !== undefined) return [];
  return Object.entries(parseResources(list)).map(([resource, milli]) => ({
    name,
    labels: { nodepool, resource_type: resourceLabel(resource) },
    value: gaugeOf(resource, milli),
  }));
}

/** Limits, usage and cost of each NodePool; a NodeClaim without a node costs nothing yet that a label could name. */
export function nodePoolGauges({ nodePools, nodeClaims, instanceTypes }: Snapshot): readonly Sample[] {
  const byPool = Map.groupBy(nodeClaims, ({ metadata }) => metadata.labels?.[NODE_POOL]);
  return nodePools.flatMap((pool) => {
    const { metadata, spec, status } = pool;
    const { name } = metadata;
    const cap = maxPricePerHour(pool);
    const types = instanceTypes.get(name) ?? [];
    const own = byPool.get(name) ?? [];
    const cost = own.reduce((sum, claim) => sum + nodePrice(claim.metadata.labels ?? {}, types), 0);
    return [
      ...amounts("nodepools_limit", name, { ...spec.limits, ...(cap !== undefined && { [PRICE_PER_HOUR]: String(cap) }) }),
      ...amounts("nodepools_usage", name, status?.resources),
      { name: "nodepools_cost_total", labels: { nodepool: name }, value: cost } as const,
    ];
  });
}

/** Each instance type once, whichever NodePools may launch it. */
function typesOf(instanceTypes: Snapshot["instanceTypes"]): readonly InstanceType[] {
  return [...new Map([...instanceTypes.values()].flatMap((types) => types.map((type) => [type.name, type] as const))).values()];
}

/** Size, price and availability of what the NodePools may launch: some 8,000 series in a region with 800 types. */
export function offeringGauges({ instanceTypes }: Pick<Snapshot, "instanceTypes">): readonly Sample[] {
  return typesOf(instanceTypes).flatMap(({ name: instance_type, capacity, offerings }): readonly Sample[] => {
    const { cpu = 0, memory = 0 } = resourcesProblem(capacity) === undefined ? parseResources(capacity) : {};
    return [
      { name: "cloudprovider_instance_type_cpu_cores", labels: { instance_type }, value: cpu / 1_000 },
      { name: "cloudprovider_instance_type_memory_bytes", labels: { instance_type }, value: Math.ceil(memory / 1_000) },
      ...offerings
        .filter(({ capacityType }) => capacityType !== "reserved")
        .flatMap(({ capacityType: capacity_type, zone, price, available }): readonly Sample[] => {
          const labels = { instance_type, capacity_type, zone };
          return [
            { name: "cloudprovider_instance_type_offering_available", labels, value: available ? 1 : 0 },
            { name: "cloudprovider_instance_type_offering_price_estimate", labels, value: price },
          ];
        }),
    ];
  });
}

type Conditioned = KubernetesObject & { readonly status?: { readonly conditions?: readonly Condition[] } };

function conditionsOf(kind: ConditionedKind, objects: readonly Conditioned[], now: number): readonly Sample[] {
  return objects.flatMap(({ metadata: { name, namespace = "" }, status }) =>
    (status?.conditions ?? []).flatMap((condition): readonly Sample[] => {
      const labels = { namespace, name, type: condition.type, status: condition.status, reason: condition.reason ?? "" };
      const since = (now - fromRfc3339(condition.lastTransitionTime)) / 1_000;
      return [
        { name: `operator_${kind}_status_condition_count`, labels, value: 1 },
        ...(Number.isFinite(since)
          ? [{ name: `operator_${kind}_status_condition_current_status_seconds`, labels, value: since } as const]
          : []),
      ];
    }),
  );
}

/** Gauges of the status conditions of NodeClaims, NodePools, nodes and EC2NodeClasses. */
export function conditionGauges(
  { now, nodeClaims, nodePools, nodes }: Pick<Snapshot, "now" | "nodeClaims" | "nodePools" | "nodes">,
  nodeClasses: readonly EC2NodeClass[],
): readonly Sample[] {
  return [
    ...conditionsOf("nodeclaim", nodeClaims, now),
    ...conditionsOf("nodepool", nodePools, now),
    ...conditionsOf("node", nodes, now),
    ...conditionsOf("ec2nodeclass", nodeClasses, now),
  ];
}
