import type { PlannedCommand } from "#cli/consolidate/consolidate.ts";
import type { Node } from "#core/model/node.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { Pod } from "#core/model/pod.ts";
import type { Snapshot } from "#core/model/snapshot.ts";

/*
 * The rules that every disruption command must keep, implemented again from the specification and without the code
 * under test, because shared code would share its mistakes.
 */

const REASON: Readonly<Record<string, "Empty" | "Drifted" | "Underutilized">> = {
  emptiness: "Empty",
  drift: "Drifted",
  multi: "Underutilized",
  single: "Underutilized",
};

function podsOn(snapshot: Snapshot, node: string): readonly Pod[] {
  return snapshot.pods.filter(({ spec }) => spec.nodeName === node);
}

function isOver({ metadata, status }: Pod): boolean {
  return Boolean(metadata.deletionTimestamp) || status?.phase === "Succeeded" || status?.phase === "Failed";
}

function isOwnedByDaemonSet({ metadata }: Pod): boolean {
  return (metadata.ownerReferences ?? []).some(({ kind }) => kind === "DaemonSet" || kind === "Node");
}

function toleratesAll({ spec }: Pod): boolean {
  return (spec.tolerations ?? []).some(({ key, operator, effect }) => !key && operator === "Exists" && !effect);
}

function condition(snapshot: Snapshot, node: Node, type: string): string | undefined {
  const claim = snapshot.nodeClaims.find(({ status }) => status?.providerID && status.providerID === node.spec.providerID);
  return claim?.status?.conditions?.find((c) => c.type === type)?.status;
}

function spentPdbOf(snapshot: Snapshot, pod: Pod): string | undefined {
  return snapshot.podDisruptionBudgets.find(({ metadata, spec, status }) => {
    const wanted = Object.entries(spec.selector?.matchLabels ?? {});
    const isUnready = pod.status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "False");
    if (isUnready && spec.unhealthyPodEvictionPolicy === "AlwaysAllow") return false;
    const covers = metadata.namespace === pod.metadata.namespace && wanted.every(([key, value]) => pod.metadata.labels?.[key] === value);
    return covers && (spec.selector?.matchExpressions ?? []).length === 0 && (status?.disruptionsAllowed ?? 0) === 0;
  })?.metadata.name;
}

function brokenOnNode(snapshot: Snapshot, name: string, method: string): readonly string[] {
  const node = snapshot.nodes.find(({ metadata }) => metadata.name === name);
  if (!node) return [`${name} is not a node`];
  const broken: string[] = [];
  const pods = podsOn(snapshot, name).filter((pod) => !isOver(pod));
  if (node.metadata.annotations?.["karpenter.sh/do-not-disrupt"] === "true") broken.push(`${name} is annotated do-not-disrupt`);
  if (node.metadata.labels?.["karpenter.sh/initialized"] !== "true") broken.push(`${name} is not initialized`);
  if (node.metadata.deletionTimestamp) broken.push(`${name} is being deleted already`);
  if (method !== "drift" && condition(snapshot, node, "Consolidatable") !== "True") broken.push(`${name} is not Consolidatable`);
  if (method === "drift" && condition(snapshot, node, "Drifted") !== "True") broken.push(`${name} has not drifted`);
  // A grace period of the NodeClaim ends the stay of its pods, whatever holds them, so that drift need not wait.
  const claim = snapshot.nodeClaims.find(({ status }) => status?.providerID === node.spec.providerID);
  const isTimed = method === "drift" && claim?.spec.terminationGracePeriod !== undefined;
  for (const pod of isTimed ? [] : pods) {
    if (pod.metadata.annotations?.["karpenter.sh/do-not-disrupt"] === "true")
      broken.push(`${name} has pod ${pod.metadata.name}, do-not-disrupt`);
    const pdb = toleratesAll(pod) ? undefined : spentPdbOf(snapshot, pod);
    if (pdb) broken.push(`${name} has pod ${pod.metadata.name}, which PodDisruptionBudget ${pdb} holds`);
  }
  return broken;
}

function brokenBudgets(snapshot: Snapshot, command: PlannedCommand): readonly string[] {
  const poolOf = (node: Node): string => node.metadata.labels?.["karpenter.sh/nodepool"] ?? "";
  return snapshot.nodePools.flatMap((pool: NodePool) => {
    const { name } = pool.metadata;
    const nodes = snapshot.nodes.filter((node) => poolOf(node) === name && node.metadata.labels?.["karpenter.sh/initialized"] === "true");
    const down = nodes.filter((node) => {
      const claim = snapshot.nodeClaims.find(({ status }) => status?.providerID === node.spec.providerID);
      const ready = node.status?.conditions?.find(({ type }) => type === "Ready")?.status === "True";
      return claim && (!ready || claim.metadata.deletionTimestamp);
    });
    const going = nodes.filter(({ metadata }) => command.candidates.includes(metadata.name));
    const reason = REASON[command.method] ?? "Underutilized";
    return (pool.spec.disruption?.budgets ?? [{ nodes: "10%" }]).flatMap((budget) => {
      // Budget windows are not judged, because the scenarios have none.
      if (budget.schedule || (budget.reasons && budget.reasons.length > 0 && !budget.reasons.includes(reason))) return [];
      const most = budget.nodes.endsWith("%") ? Math.ceil((nodes.length * Number.parseInt(budget.nodes, 10)) / 100) : Number(budget.nodes);
      return going.length > 0 && going.length + down.length > most
        ? [`${name}: ${going.length} nodes go where ${budget.nodes} allows ${most} less ${down.length}`]
        : [];
    });
  });
}

/** USD per hour of a node by its labels; 0 when its offering is not known. */
export function hourlyPrice(snapshot: Snapshot, name: string): number {
  const labels = snapshot.nodes.find(({ metadata }) => metadata.name === name)?.metadata.labels ?? {};
  const type = snapshot.instanceTypes
    .get(labels["karpenter.sh/nodepool"] ?? "")
    ?.find((t) => t.name === labels["node.kubernetes.io/instance-type"]);
  const zone = labels["topology.kubernetes.io/zone"];
  return type?.offerings.find((o) => o.zone === zone && o.capacityType === labels["karpenter.sh/capacity-type"])?.price ?? 0;
}

/** Economic rules that a command breaks: its replacements must cost less than the removed nodes. */
function brokenEconomy(snapshot: Snapshot, command: PlannedCommand): readonly string[] {
  if (command.method === "drift") return [];
  const before = command.candidates.reduce((sum, name) => sum + hourlyPrice(snapshot, name), 0);
  const broken: string[] = [];
  for (const { nodePool, requirements, instanceTypes } of command.replacements) {
    const allows = (key: string, value: string): boolean =>
      requirements.every(
        (r) =>
          r.key !== key || (r.operator === "In" ? r.values?.includes(value) : r.operator === "NotIn" ? !r.values?.includes(value) : true),
      );
    for (const type of snapshot.instanceTypes.get(nodePool) ?? []) {
      if (!instanceTypes.includes(type.name)) continue;
      const offers = type.offerings.filter(
        (o) => o.available && allows("topology.kubernetes.io/zone", o.zone) && allows("karpenter.sh/capacity-type", o.capacityType),
      );
      if (offers.length === 0) broken.push(`replacement type ${type.name} cannot be bought`);
      if (offers.some(({ price }) => price >= before))
        broken.push(`replacement type ${type.name} may cost more than the $${before.toFixed(4)}/h that it replaces`);
    }
  }
  const workers = command.candidates.flatMap((name) => podsOn(snapshot, name).filter((pod) => !isOver(pod) && !isOwnedByDaemonSet(pod)));
  const costless = workers.every(
    (pod) => Number(pod.metadata.annotations?.["controller.kubernetes.io/pod-deletion-cost"] ?? 0) < 0 || (pod.spec.priority ?? 0) < 0,
  );
  if (command.method === "emptiness" && !costless) broken.push("a node that is taken for empty runs a pod that counts");
  return broken;
}

/** The rules that a decision breaks, one sentence each. */
export function brokenRules(snapshot: Snapshot, command: PlannedCommand): readonly string[] {
  return [
    ...command.candidates.flatMap((name) => brokenOnNode(snapshot, name, command.method)),
    ...brokenBudgets(snapshot, command),
    ...brokenEconomy(snapshot, command),
  ];
}
