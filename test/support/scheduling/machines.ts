import { type JudgedMachine, type Labels, type RawJson, typesOf, valueAllowed } from "./judge-rules.ts";

const TRANSIENT = [
  "node.kubernetes.io/not-ready",
  "node.kubernetes.io/unreachable",
  "node.cloudprovider.kubernetes.io/uninitialized",
  "karpenter.sh/unregistered",
];

/**
 * Nodes and launched NodeClaims as they are after their start, by their name in plans. Those being deleted are absent.
 */
export function existingMachines(scenario: RawJson): Map<string, JudgedMachine> {
  const machines = new Map<string, JudgedMachine>();
  const claims = new Map<string, RawJson>((scenario.nodeClaims ?? []).map((claim: RawJson) => [claim.status?.providerID, claim]));
  const podsByNode = Map.groupBy(scenario.pods as readonly RawJson[], (pod) => pod.spec.nodeName as string | undefined);
  const running = (name: string): RawJson[] =>
    (podsByNode.get(name) ?? []).filter((pod) => !["Succeeded", "Failed"].includes(pod.status?.phase));
  for (const node of scenario.nodes ?? []) {
    const claim = claims.get(node.spec.providerID);
    claims.delete(node.spec.providerID);
    if (node.metadata.deletionTimestamp || claim?.metadata.deletionTimestamp) continue;
    const starting = claim && node.metadata.labels?.["karpenter.sh/initialized"] !== "true";
    const startup = claim?.spec.startupTaints ?? [];
    const taints = (node.spec.taints ?? []).filter(
      (t: RawJson) => !starting || !(TRANSIENT.includes(t.key) || startup.some((s: RawJson) => s.key === t.key && s.effect === t.effect)),
    );
    const name = node.metadata.name;
    machines.set(name, {
      name,
      labels: { "kubernetes.io/hostname": name, ...node.metadata.labels },
      taints,
      pods: running(name),
      isNew: false,
    });
  }
  for (const claim of claims.values()) {
    if (!claim.status?.providerID || claim.metadata.deletionTimestamp) continue;
    const name = claim.metadata.name;
    machines.set(name, {
      name,
      labels: { "kubernetes.io/hostname": name, ...claim.metadata.labels },
      taints: claim.spec.taints ?? [],
      pods: [],
      isNew: false,
    });
  }
  return machines;
}

const ZONE = "topology.kubernetes.io/zone";
const CAPACITY_TYPE = "karpenter.sh/capacity-type";
const RESERVATION = "karpenter.k8s.aws/capacity-reservation-id";
const RESERVATION_TYPE = "karpenter.k8s.aws/capacity-reservation-type";
const RESERVATION_INTERRUPTIBLE = "karpenter.k8s.aws/capacity-reservation-interruptible";

/** Labels that the node gets from its offering; undefined means that the node does not have the label. */
function offeringLabels(o: RawJson): Readonly<Record<string, string | undefined>> {
  return {
    [ZONE]: o.zone,
    [CAPACITY_TYPE]: o.capacityType,
    [RESERVATION]: o.reservationId,
    [RESERVATION_TYPE]: o.reservationType,
    [RESERVATION_INTERRUPTIBLE]: o.reservationInterruptible?.toString(),
  };
}

/** Every node that a planned NodeClaim may become: each listed type with each available offering that it admits. */
export function possibleNodes(scenario: RawJson, claim: RawJson): { type: RawJson; labels: Labels; price: number }[] {
  const pool = scenario.nodePools.find((p: RawJson) => p.metadata.name === claim.nodePool);
  const { metadata, spec } = pool.spec.template;
  const base: Labels = {
    ...drawnLabels(claim.requirements),
    ...metadata?.labels,
    ...claim.labels,
    "karpenter.sh/nodepool": claim.nodePool,
    "karpenter.k8s.aws/ec2nodeclass": spec.nodeClassRef?.name,
  };
  const allows = (key: string, value: string | undefined): boolean =>
    claim.requirements.every((r: RawJson) => r.key !== key || valueAllowed(r.operator, r.values ?? [], value));
  return claim.instanceTypes.flatMap((name: string) => {
    const type = typesOf(scenario, claim.nodePool).find((t: RawJson) => t.name === name);
    return type.offerings.flatMap((o: RawJson) => {
      const labels: Labels = { ...base };
      const offered = offeringLabels(o);
      const decided = new Set(Object.keys(offered));
      for (const { key, operator, values } of type.requirements) {
        decided.add(key);
        delete labels[key];
        if (operator === "In") labels[key] = values.find((v: string) => allows(key, v)) ?? values[0];
      }
      for (const [key, value] of Object.entries(offered)) {
        delete labels[key];
        if (value !== undefined) labels[key] = value;
      }
      const region = /^([a-z]+-[a-z]+-\d)[a-z]$/.exec(o.zone)?.[1];
      if (region !== undefined) labels["topology.kubernetes.io/region"] = region;
      const admitted = claim.requirements.every((r: RawJson) => !decided.has(r.key) || allows(r.key, labels[r.key]));
      return o.available && admitted ? [{ type, labels, price: o.price }] : [];
    });
  });
}

/** Values for labels that requirements leave open: the smallest allowed value, or no label where it may be absent. */
function drawnLabels(requirements: readonly RawJson[]): Labels {
  const labels: Labels = {};
  for (const { key } of requirements) {
    const own = requirements.filter((r) => r.key === key);
    const values: string[] = own.flatMap((r) => (r.operator === "In" ? r.values : []));
    const fits = (value: string | undefined): boolean => own.every((r) => valueAllowed(r.operator, r.values ?? [], value));
    if (fits(undefined)) continue;
    const value = (values.length > 0 ? values.sort() : Array.from({ length: 1000 }, (_, n) => String(n))).find(fits);
    if (value !== undefined) labels[key] = value;
  }
  return labels;
}
