import { perHour } from "../../disruption/prices/money.ts";
import { counted, listed } from "../../scheduling/reasons/words.ts";
import type { Step } from "../what-if/rehearse.ts";

const NAMES: Readonly<Record<string, string>> = {
  ...{ emptiness: "empty", drift: "drifted", multi: "consolidate", single: "consolidate", sleep: "asleep", repair: "unhealthy" },
};

/** "buy 2 nodes for 7 pods that wait: …", "consolidate: n1 (m5.large) for m7g.large; 3 pods moved, saves $0.01/h". */
export function stepText(step: Step): string {
  if (step.kind === "purchase")
    return `buy ${counted(step.claims.length, "node")} for ${counted(step.pods, "pod")} that wait: ${listed(step.claims, 3)}`;
  const { method, candidates, replacements, savingsPerHour } = step.command;
  const pods = candidates.reduce((sum, candidate) => sum + candidate.pods.length, 0);
  const going = listed(
    candidates.map(({ node, instanceType }) => `${node} (${instanceType})`),
    3,
  );
  const instead = replacements.length === 0 ? "" : ` for ${listed(counts(replacements.map(({ instanceTypes: [type = "?"] }) => type)), 4)}`;
  const money = `${savingsPerHour < 0 ? "costs" : "saves"} ${perHour(Math.abs(savingsPerHour))}`;
  return `${NAMES[method]}: ${going}${instead}; ${counted(pods, "pod")} moved, ${money}`;
}

/** "m7g.large", "3 × m7g.large". */
function counts(names: readonly string[]): readonly string[] {
  return [...Map.groupBy(names, (name) => name)].map(([name, list]) => (list.length === 1 ? name : `${list.length} × ${name}`));
}
