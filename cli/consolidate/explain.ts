import { capacityTypeOfPlanned } from "../../core/disruption/consolidation/replacement.ts";
import { counted, listed } from "../../core/scheduling/reasons/words.ts";
import { bar } from "../bars.ts";
import { perHour, wrapped } from "../columns.ts";
import type { WrittenClaim } from "../scenario/planned-claim.ts";
import type { ConsolidationPlan } from "./consolidate.ts";
import type { BindingBudget, HeldBack } from "./held-back.ts";
import type { Attempt, ExplainedNode } from "./nodes.ts";

/**
 * The plan as text: the command with its replacements and savings, then every node with why it stays or is removed,
 * which sets with it were tried, and what they would have saved.
 */
export function explainConsolidation({ commands, nodes = [], idleOverlays: idle = [] }: ConsolidationPlan): string {
  const lines = commands.flatMap(({ method, decision, candidates, replacements, savings, podsMoved = 0 }) => [
    ...wrapped(
      `${method}: ${decision} ${counted(candidates.length, "node")} (${listed(candidates, 12)}), ${moneyText(savings)}${moves(podsMoved)}`,
    ),
    ...replacements.flatMap((claim) => wrapped(`in their place: ${replacementText(claim)}`, 2)),
  ]);
  if (commands.length === 0) lines.push("nothing to disrupt");
  const rows = [...nodes].sort((a, b) => ORDER[a.verdict] - ORDER[b.verdict]).flatMap(nodeLines);
  const sections = [lines, ...(rows.length > 0 ? [["NODES", ...rows]] : []), ...(idle.length > 0 ? [idle] : [])];
  return `${sections.map((section) => section.join("\n")).join("\n\n")}\n`;
}

/** Instance types named for each replacement. */
const MAX_TYPES_SHOWN = 3;

/** "spot c7a.large, c6a.large, m6a.large or any of 2 more types in default, for 1 pod". */
function replacementText(claim: WrittenClaim): string {
  const { nodePool, instanceTypes, pods } = claim;
  const others = instanceTypes.length - MAX_TYPES_SHOWN;
  const more = others > 0 ? ` or any of ${counted(others, "more type")}` : "";
  const types = instanceTypes.slice(0, MAX_TYPES_SHOWN).join(", ");
  return `${capacityTypeOfPlanned(claim)} ${types}${more} in ${nodePool}, for ${counted(pods.length, "pod")}`;
}

const ORDER: Readonly<Record<ExplainedNode["verdict"], number>> = { goes: 0, next: 1, unseen: 2, stays: 3 };

const moneyText = (amount: number): string => `${amount < 0 ? "costing" : "saving"} ${perHour(Math.abs(amount))}`;

const moves = (pods: number): string => (pods === 0 ? "" : `, moves ${counted(pods, "pod")}`);

function nodeLines(node: ExplainedNode): readonly string[] {
  const { name, instanceType, capacityType, pricePerHour, pods, alone, best } = node;
  const kind = [instanceType, capacityType].filter((text) => text !== "").join(" ");
  const price = pricePerHour > 0 ? `, ${perHour(pricePerHour)}` : "";
  return [
    "",
    ...hanging(`${name} (${kind}${price}, ${counted(pods, "pod")}) ${verdictText(node)}`, 2),
    ...useLine(node),
    ...(alone ? hanging(`tried alone: ${attemptText(alone)}`, 4) : []),
    ...(best ? hanging(`tried in ${counted(node.sets, "set")}, best with ${listed(best.with, 4)}: ${attemptText(best)}`, 4) : []),
  ];
}

/** "cpu ██████░░░░ 61%  memory ███░░░░░░░ 30%", and another resource where it is the tightest: GPUs, or pods. */
function useLine({ use }: ExplainedNode): readonly string[] {
  const [tightest] = use;
  const names = new Set(["cpu", "memory", ...(tightest ? [tightest.name] : [])]);
  const parts = [...names].flatMap((wanted) =>
    use.filter(({ name }) => name === wanted).map(({ name, share }) => `${name} ${bar(share, 10)} ${Math.round(share * 100)}%`),
  );
  return parts.length === 0 ? [] : [`    ${parts.join("  ")}`];
}

function verdictText({ name, verdict, reason, heldBack }: ExplainedNode): string {
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
function heldBackText(name: string, { nodes, savesPerHour, budgets }: HeldBack): string {
  const others = nodes.filter((node) => node !== name);
  const what = others.length === 0 ? `removing ${name}` : `${listed([name, ...others], 4)} together`;
  return `${what} would save ${perHour(savesPerHour)}, but ${budgets.map(budgetText).join(", and ")}`;
}

function budgetText({ nodePool, budget, total, allowed }: BindingBudget): string {
  const fields = Object.entries(budget ?? {}).map(([key, value]) => `${key}: ${Array.isArray(value) ? value.join("/") : value}`);
  const entry = budget === undefined ? "default budget {nodes: 10%}" : `budget {${fields.join(", ")}}`;
  return `NodePool ${nodePool}'s ${entry} lets ${allowed} of its ${counted(total, "node")} be disrupted now`;
}

function attemptText({ savesPerHour, podsMoved, replacements, chosen, why }: Attempt): string {
  const instead = replacements.length === 0 ? "" : ` for ${listed(replacements, 4)}`;
  const worth = `${perHour(Math.abs(savesPerHour))} ${savesPerHour < 0 ? "more" : "less"}${instead}, ${counted(podsMoved, "pod")} moved`;
  if (chosen) return `${worth}; done`;
  if (why === undefined) return `${worth}; something else is worth more`;
  return savesPerHour === 0 ? why : `${worth}; ${why}`;
}

function hanging(text: string, indent: number): readonly string[] {
  return wrapped(text, indent + 2).map((line, i) => (i === 0 ? line.slice(2) : line));
}
