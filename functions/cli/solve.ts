import type { Plan, PlannedNodeClaim } from "../../core/model/plan.ts";
import type { Snapshot } from "../../core/model/snapshot.ts";
import { podKey } from "../../core/pods/predicates.ts";
import { requirementsFrom } from "../../core/requirements/requirements.ts";
import { pendingPods, solve } from "../../core/scheduling/solve.ts";
import { typeTable } from "../../core/scheduling/type-table.ts";
import { checkScenario } from "./check-scenario.ts";
import { bufferOutcomes, explainBuffers, scenarioHeadroom } from "./headroom.ts";
import { idleOverlays } from "./overlays.ts";
import { InputError, readScenario, scenarioParts, scenarioToSnapshot } from "./scenario.ts";

/** The plan as FORMAT.md writes it. */
export function planToJson(plan: Plan, solveMillis: number): Record<string, unknown> {
  return {
    newNodeClaims: plan.newNodeClaims.map(({ nodePool, requirements, taints, instanceTypes, requests, pods }) => ({
      nodePool,
      requirements,
      taints,
      instanceTypes,
      requests,
      pods,
    })),
    existingNodes: plan.existingNodes,
    podErrors: plan.podErrors,
    solveMillis,
  };
}

/** Types of a claim with what each would cost (USD per hour), cheapest first. */
function pricedTypes(claim: PlannedNodeClaim, snapshot: Snapshot): readonly { readonly name: string; readonly price: number }[] {
  const table = typeTable(snapshot.instanceTypes.get(claim.nodePool) ?? []);
  const { byType } = table.prices({ id: 0, requirements: requirementsFrom(claim.requirements) });
  return claim.instanceTypes.map((name) => ({ name, price: byType[table.types.findIndex((type) => type.name === name)] ?? Number.NaN }));
}

/** The plan for people: what is bought and why it is enough, where pods go, and what keeps the rest waiting. */
export function explainPlan(plan: Plan, snapshot: Snapshot): string {
  const lines: string[] = [];
  const pools = [...snapshot.nodePools].sort(
    (a, b) => (b.spec.weight ?? 0) - (a.spec.weight ?? 0) || (a.metadata.name < b.metadata.name ? 1 : -1),
  );
  if (pools.length === 0) lines.push("there is no NodePool, so no node can be bought");
  else
    lines.push(`NodePools are tried by weight: ${pools.map(({ metadata, spec }) => `${metadata.name} (${spec.weight ?? 0})`).join(", ")}`);
  const total = plan.newNodeClaims.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  lines.push(`${plan.newNodeClaims.length} new NodeClaims, $${total.toFixed(4)}/h`);
  for (const claim of plan.newNodeClaims) {
    const { nodePool, pricePerHour, pods, requests } = claim;
    const [first, ...others] = pricedTypes(claim, snapshot);
    const asks = Object.entries(requests)
      .map(([name, quantity]) => `${name} ${quantity}`)
      .join(", ");
    lines.push(`  ${nodePool}: ${first?.name} at $${pricePerHour.toFixed(4)}/h for ${pods.length} pods (${asks})`);
    if (others.length > 0) {
      const runnersUp = others.slice(0, 4).map(({ name, price }) => `${name} $${price.toFixed(4)}`);
      lines.push(
        `    the cheapest of ${others.length + 1} types that hold them; then ${runnersUp.join(", ")}${others.length > 4 ? ", …" : ""}`,
      );
    } else lines.push("    the only type that holds them and is to be had");
    lines.push(`    pods: ${list(pods)}`);
  }
  for (const { name, pods } of plan.existingNodes) lines.push(`node ${name} takes ${pods.length} pods: ${list(pods)}`);
  const reasons = new Map<string, string[]>();
  for (const [pod, reason] of Object.entries(plan.podErrors)) reasons.set(reason, [...(reasons.get(reason) ?? []), pod]);
  for (const [reason, pods] of reasons) lines.push(`${list(pods)}: ${reason}`);
  return `${[...lines, ...leftAlone(snapshot)].join("\n")}\n`;
}

/** Pods without a node that a plan does not speak of, and why. */
function leftAlone(snapshot: Snapshot): readonly string[] {
  const { pods, ignored } = pendingPods(snapshot);
  const spokenOf = new Set([...pods, ...ignored.map(({ pod }) => pod)]);
  const idle = snapshot.pods.filter(
    (pod) => !spokenOf.has(pod) && (pod.spec.nodeName ?? "") === "" && !snapshot.nominated.has(pod.metadata.uid ?? ""),
  );
  return [
    ...ignored.map(({ pod, reason }) => `${podKey(pod)} is left alone: ${reason || "it asks not to run on nodes of a NodePool"}`),
    ...(idle.length === 0
      ? []
      : [
          `${list(idle.map(podKey))}: not waiting for a node (kube-scheduler says so by the condition PodScheduled, status False, reason Unschedulable)`,
        ]),
  ];
}

function list(names: readonly string[]): string {
  return names.length <= 5 ? names.join(", ") : `${names.slice(0, 5).join(", ")} and ${names.length - 5} other(s)`;
}

/** `cli solve FILE`: solves a scenario ("-" reads standard input; gzip is fine). JSON, or text with `explain`. Throws InputError. */
export function solveCommand(path: string, options: { readonly explain?: boolean } = {}): string {
  const scenario = checkScenario(readScenario(path));
  const snapshot = scenarioToSnapshot(scenario);
  const start = performance.now();
  let plan: Plan;
  try {
    plan = solve(snapshot);
  } catch (error) {
    if (error instanceof RangeError) throw new InputError(`${path}: ${error.message}`);
    throw error;
  }
  const solveMillis = Math.round((performance.now() - start) * 1000) / 1000;
  const parts = scenarioParts(scenario);
  const capacityBuffers = bufferOutcomes(scenarioHeadroom(parts), plan, snapshot);
  if (options.explain !== true) {
    const json = { ...planToJson(plan, solveMillis), ...(capacityBuffers.length > 0 && { capacityBuffers }) };
    return `${JSON.stringify(json, null, 2)}\n`;
  }
  const more = [...explainBuffers(capacityBuffers), ...idleOverlays(parts)].map((line) => `${line}\n`);
  return [explainPlan(plan, snapshot), ...more].join("");
}
