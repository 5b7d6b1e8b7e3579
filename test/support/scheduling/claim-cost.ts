import { claimPrice } from "./claim-price.ts";
import { amount, type RawJson, requestsOf } from "./judge-rules.ts";

// What a planned NodeClaim costs its owner, computed from the scenario alone, without the code that is judged: the same
// for our plans and for Karpenter's.

/** What each node counts beside its instance, USD per hour, unless a comparison says otherwise. */
export const NODE_CHARGE = 0.02;

/** Share of each vCPU that the price of a T type includes, by size; T2's own where it differs. */
const SHARES = new Map([
  ["nano", 5],
  ["micro", 10],
  ["small", 20],
  ["medium", 20],
  ["large", 30],
  ["xlarge", 40],
  ["2xlarge", 40],
  ["t2.xlarge", 22.5],
  ["t2.2xlarge", 16.875],
]);

/** USD per hour: the price of the cheapest offering, the surplus credits of the pods there, and the node's charge. */
export function claimCost(scenario: RawJson, claim: RawJson, charge = NODE_CHARGE): number {
  const names: readonly string[] = claim.instanceTypes;
  const priced = names.map((name) => ({ name, price: claimPrice(scenario as never, { ...claim, instanceTypes: [name] } as never) }));
  const cheapest = priced.reduce((a, b) => (b.price < a.price ? b : a), { name: "", price: Number.POSITIVE_INFINITY });
  return cheapest.price + charge + surplus(scenario, cheapest.name, claim);
}

/** Pods of DaemonSets request cpu too: an answer's `requests` have them, where it has `requests`. */
function surplus(scenario: RawJson, name: string, { pods, requests }: RawJson): number {
  const [family = "", size = ""] = name.split(".");
  if (!["t2", "t3", "t3a", "t4g"].includes(family)) return 0;
  const types: readonly RawJson[] = scenario.instanceTypes;
  const placed = new Set(pods);
  const all: readonly RawJson[] = scenario.pods;
  const ofPods = all
    .filter(({ metadata }) => placed.has(`${metadata.namespace ?? "default"}/${metadata.name}`))
    .reduce((sum, one) => sum + (requestsOf(one)["cpu"] ?? 0), 0);
  const requested = Math.max(ofPods, requests?.cpu === undefined ? 0 : amount(requests.cpu));
  const vcpus = amount(types.find((type) => type.name === name)?.capacity.cpu);
  const baseline = (vcpus * (SHARES.get(name) ?? SHARES.get(size) ?? 100)) / 100;
  return Math.max(0, requested - baseline) * (family === "t4g" ? 0.04 : 0.05);
}
