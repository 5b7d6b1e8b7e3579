import { capacityTypeOfPlanned } from "#core/disruption/consolidation/replacement.ts";
import { perHour } from "#core/disruption/prices/money.ts";
import type { ExplainedNode } from "#core/insight/overview/explain-nodes.ts";
import { attemptText, verdictText } from "#core/insight/overview/wording.ts";
import { counted, listed } from "#core/scheduling/reasons/words.ts";
import { bar } from "#terminal/bars.ts";
import { wrapped } from "#terminal/columns.ts";
import type { WrittenClaim } from "../scenario/planned-claim.ts";
import type { ConsolidationPlan } from "./consolidate.ts";

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

function hanging(text: string, indent: number): readonly string[] {
  return wrapped(text, indent + 2).map((line, i) => (i === 0 ? line.slice(2) : line));
}
