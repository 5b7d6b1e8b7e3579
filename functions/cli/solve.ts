import type { Plan } from "../../core/model/plan.ts";
import { solve } from "../../core/scheduling/solve.ts";
import { InputError, readScenario, scenarioToSnapshot } from "./scenario.ts";

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

/** The plan for people: what is bought and why it is enough, where pods go, and what keeps the rest waiting. */
export function explainPlan(plan: Plan): string {
  const lines: string[] = [];
  const total = plan.newNodeClaims.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  lines.push(`${plan.newNodeClaims.length} new NodeClaims, $${total.toFixed(4)}/h`);
  for (const { nodePool, instanceTypes, pricePerHour, pods, requests } of plan.newNodeClaims) {
    const [first, ...others] = instanceTypes;
    const asks = Object.entries(requests)
      .map(([name, quantity]) => `${name} ${quantity}`)
      .join(", ");
    lines.push(`  ${nodePool}: ${first} at $${pricePerHour.toFixed(4)}/h for ${pods.length} pods (${asks})`);
    if (others.length > 0)
      lines.push(`    or any of ${others.length} more types: ${others.slice(0, 5).join(", ")}${others.length > 5 ? ", …" : ""}`);
  }
  for (const { name, pods } of plan.existingNodes) lines.push(`node ${name} takes ${pods.length} pods: ${list(pods)}`);
  const reasons = new Map<string, string[]>();
  for (const [pod, reason] of Object.entries(plan.podErrors)) reasons.set(reason, [...(reasons.get(reason) ?? []), pod]);
  for (const [reason, pods] of reasons) lines.push(`${list(pods)}: ${reason}`);
  return `${lines.join("\n")}\n`;
}

function list(names: readonly string[]): string {
  return names.length <= 5 ? names.join(", ") : `${names.slice(0, 5).join(", ")} and ${names.length - 5} other(s)`;
}

/** `cli solve FILE`: solves a scenario ("-" reads standard input; gzip is fine). JSON, or text with `explain`. Throws InputError. */
export function solveCommand(path: string, options: { readonly explain?: boolean } = {}): string {
  const snapshot = scenarioToSnapshot(readScenario(path));
  const start = performance.now();
  let plan: Plan;
  try {
    plan = solve(snapshot);
  } catch (error) {
    if (error instanceof RangeError) throw new InputError(`${path}: ${error.message}`);
    throw error;
  }
  const solveMillis = Math.round((performance.now() - start) * 1000) / 1000;
  return options.explain === true ? explainPlan(plan) : `${JSON.stringify(planToJson(plan, solveMillis), null, 2)}\n`;
}
