import { perHour } from "../../disruption/prices/money.ts";
import { counted, listed } from "../../scheduling/reasons/words.ts";
import type { ExplainedNode, NodeSetAttempt } from "./explain-nodes.ts";
import type { BindingBudget, HeldBack } from "./held-back.ts";

/** "goes: emptiness", "stays: Node is inside its consolidateAfter window". */
export function verdictText({ name, verdict, reason, heldBack }: ExplainedNode): string {
  if (heldBack) return `stays: ${heldBackText(name, heldBack)}`;
  switch (verdict) {
    case "goes":
      return `goes: ${reason}`;
    case "next":
      return `goes in a pass after this one: ${reason}`;
    case "stays":
      return `stays: ${reason}`;
    case "unseen":
      return "stays for now: other nodes go first";
  }
}

/** "n0 and n1 together would save $0.0261/h, but NodePool default's default budget {nodes: 10%} lets …". */
export function heldBackText(name: string, { nodes, savesPerHour, budgets }: HeldBack): string {
  const others = nodes.filter((node) => node !== name);
  const what = others.length === 0 ? `removing ${name}` : `${listed([name, ...others], 4)} together`;
  return `${what} would save ${perHour(savesPerHour)}, but ${budgets.map(budgetText).join(", and ")}`;
}

function budgetText({ nodePool, budget, total, allowed }: BindingBudget): string {
  const fields = Object.entries(budget ?? {}).map(([key, value]) => `${key}: ${Array.isArray(value) ? value.join("/") : value}`);
  const entry = budget === undefined ? "default budget {nodes: 10%}" : `budget {${fields.join(", ")}}`;
  return `NodePool ${nodePool}'s ${entry} lets ${allowed} of its ${counted(total, "node")} be disrupted now`;
}

/** "$0.0261/h less for m7g.large, 3 pods moved; done", or why the set was not chosen. */
export function attemptText({ savesPerHour, podsMoved, replacements, chosen, why }: NodeSetAttempt): string {
  const instead = replacements.length === 0 ? "" : ` for ${listed(replacements, 4)}`;
  const worth = `${perHour(Math.abs(savesPerHour))} ${savesPerHour < 0 ? "more" : "less"}${instead}, ${counted(podsMoved, "pod")} moved`;
  if (chosen) return `${worth}; done`;
  if (why === undefined) return `${worth}; something else is worth more`;
  return savesPerHour === 0 ? why : `${worth}; ${why}`;
}
