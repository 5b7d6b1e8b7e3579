import { checkClaim } from "./check-claim.ts";
import { checkExisting } from "./check-existing.ts";
import { checkLimits, checkPriceCaps, checkReservations } from "./check-pools.ts";
import { checkTopology } from "./check-topology.ts";
import { hasVolumeTrouble } from "./check-volumes.ts";
import { nameOf, type RawJson } from "./judge-rules.ts";
import { existingMachines } from "./machines.ts";

/** A rule that a plan breaks, and the pods concerned; no pods means the whole plan. */
export interface Finding {
  readonly text: string;
  readonly pods: readonly string[];
}

/** The hard rules that a plan breaks, judged on the scenario's raw JSON without any code of the solver. */
export function judge(scenario: RawJson, plan: RawJson): readonly Finding[] {
  const findings: Finding[] = [];
  const report = (text: string, ...pods: string[]): void => void findings.push({ text, pods });
  const byName = new Map<string, RawJson>(scenario.pods.map((pod: RawJson) => [nameOf(pod), pod]));
  const seen = new Set<string>();
  const machines = existingMachines(scenario);
  for (const pod of [...plan.newNodeClaims, ...plan.existingNodes].flatMap((place: RawJson) => place.pods)) {
    if (seen.has(pod)) report("placed twice", pod);
    seen.add(pod);
    if (!byName.has(pod)) report("no such pod", pod);
  }
  for (const pod of Object.keys(plan.podErrors)) if (seen.has(pod)) report("placed and in podErrors", pod);
  for (const pod of scenario.pods) {
    if (isWaiting(scenario, pod) && !seen.has(nameOf(pod)) && !(nameOf(pod) in plan.podErrors))
      report("neither placed nor explained", nameOf(pod));
  }
  for (const { name, pods } of plan.existingNodes) {
    const machine = machines.get(name);
    if (machine === undefined) {
      report(`node ${name} is not there to take pods`, ...pods);
      continue;
    }
    const added = pods.map((pod: string) => byName.get(pod));
    checkExisting(scenario, machine, added, report);
    machine.pods.push(...added);
  }
  plan.newNodeClaims.forEach((claim: RawJson, i: number) => {
    const pods = claim.pods.map((pod: string) => byName.get(pod));
    const machine = checkClaim(scenario, claim, pods, `claim-${i}`, report);
    if (machine !== undefined) machines.set(machine.name, machine);
  });
  checkLimits(scenario, plan, report);
  checkPriceCaps(scenario, plan, report);
  checkReservations(scenario, plan, report);
  checkTopology(scenario, [...machines.values()], seen, report);
  return findings;
}

/** The findings as text. */
export function brokenRules(scenario: RawJson, plan: RawJson): readonly string[] {
  return judge(scenario, plan).map(({ text, pods }) => `${text}${pods.length > 0 ? `: ${pods.slice(0, 3).join(", ")}` : ""}`);
}

/** Whether a plan must place or report a pod: it is Unschedulable, and it lacks nothing except a node. */
function isWaiting(scenario: RawJson, pod: RawJson): boolean {
  const gaveUp = (pod.status?.conditions ?? []).some((c: RawJson) => c.type === "PodScheduled" && c.reason === "Unschedulable");
  const owners = (pod.metadata.ownerReferences ?? []).map((owner: RawJson) => owner.kind);
  if (!gaveUp || pod.spec.nodeName || pod.status?.nominatedNodeName || pod.metadata.deletionTimestamp) return false;
  if (owners.includes("DaemonSet") || owners.includes("Node") || JSON.stringify(pod.spec.affinity ?? {}).includes("karpenter.sh/nodepool"))
    return false;
  return !hasVolumeTrouble(scenario, pod);
}
