import { join } from "node:path";
import { readScenario, scenarioToSnapshot } from "#cli/scenario/scenario.ts";
import { type Candidate, findCandidates, podsMoved } from "#core/disruption/cluster/candidate.ts";
import { viewCluster } from "#core/disruption/cluster/view.ts";
import { disruptionCostUsd, netSavings } from "#core/disruption/consolidation/payback.ts";
import { trialFor } from "#core/disruption/consolidation/simulate.ts";
import { bySavingsRatio, savingsRatio } from "#core/disruption/node-sets/savings-potential.ts";
import { planDisruption } from "#core/disruption/plan.ts";
import { DEFAULT_NODE_OVERHEAD_PRICE } from "#core/model/prices.ts";
import { makeConsolidationTrial } from "#core/scheduling/make-trial.ts";
import { disruptionSettings } from "#functions/disruption/settings.ts";
import { DEFAULT_SETTINGS } from "#functions/wiring/settings.ts";
import { WITH_SOLVE } from "../support/disruption/with-solve.ts";
import { dollars, plural, table } from "./words.ts";

const HOUR_MS = 3_600_000;

const namesOf = (candidates: readonly Candidate[]): string => candidates.map(({ node }) => node).join(" + ");
const podsOf = ({ moving }: Candidate): string => moving.map(({ metadata }) => metadata.name).join(", ");

/**
 * The worked example of a consolidation, from `consolidation.json`: each step of core/disruption with what it comes to.
 */
export function consolidationExample(): string {
  const snapshot = scenarioToSnapshot(readScenario(join(import.meta.dirname, "consolidation.json")));
  const view = viewCluster({ snapshot, records: [], commands: [], now: snapshot.now });
  const { all: candidates } = findCandidates(view);
  const trial = trialFor(view, candidates, makeConsolidationTrial);
  const ranked = bySavingsRatio(candidates, trial);
  const settings = disruptionSettings("example", DEFAULT_SETTINGS);
  const plan = planDisruption({
    snapshot,
    records: [],
    commands: [],
    settings,
    now: snapshot.now,
    ...WITH_SOLVE,
    newId: () => "example",
  });
  const { command } = plan;
  if (command === undefined) throw new Error("the example needs a command");
  const chosen = candidates.filter(({ nodeClaim }) => command.candidates.some((one) => one.nodeClaim === nodeClaim));
  const order = ranked.map(({ candidate }) => candidate);
  const removals = order
    .map((_, i) => order.slice(0, i + 1))
    .map((set) => ({ set, ...trial.trialCluster.costOfRemoving(set.map(({ node }) => node)) }));
  const priceOf = (set: readonly Candidate[]): number => set.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  const horizonHours = (settings.horizonMs ?? Number.POSITIVE_INFINITY) / HOUR_MS;

  return `## A consolidation: three nodes, one replacement

The scenario is \`test/worked-example/consolidation.json\`: three nodes of one NodePool whose budget allows all of them, policy \`WhenEmptyOrUnderutilized\`.

${table(
  ["node", "instance type", "$ per hour", "pods"],
  candidates.map((candidate) => [candidate.node, candidate.instanceType?.name ?? "", dollars(candidate.pricePerHour), podsOf(candidate)]),
)}

**What is maximised.** The price of the nodes that are removed, less the price of their replacements, less what moving the pods costs, spread over
\`CONSOLIDATION_HORIZON\` (${horizonHours} h). Each node counts ${dollars(DEFAULT_NODE_OVERHEAD_PRICE)} more than its price (\`NODE_OVERHEAD_PRICE\`), before and after: a
node more than before must save that besides.

### 1. Savings potential and savings ratio

The shadow prices of packing say what the room of a node's pods is worth on the cheapest mix of new nodes. The node's price less that value is its *savings
potential*. Nodes are ranked by the *savings ratio*: the potential per unit of disruption cost (1 for the node, and the eviction cost of each pod;
\`core/disruption/node-sets/savings-potential.ts\`).

${table(
  ["node", "savings potential", "disruption cost", "savings ratio"],
  ranked.map((one) => [one.candidate.node, dollars(one.potential), one.candidate.disruptionCost.toFixed(2), savingsRatio(one).toFixed(4)]),
)}

### 2. The trial cluster

The trial cluster (\`core/scheduling/trial-cluster.ts\`) is built once. It answers what a set of nodes would cost to remove in microseconds, because it moves pods
and reverts to a checkpoint. It is an estimate: limits and reservations of new nodes are left out.

${table(
  ["set, in the order of the ratio", "price now", "new nodes needed", "their price", "estimated saving"],
  removals.map(({ set, newNodes, price }) => [
    namesOf(set),
    dollars(priceOf(set)),
    String(newNodes),
    dollars(price),
    dollars(priceOf(set) - price),
  ]),
)}

### 3. Trials by the scheduler

The sets that look best are tried by \`solve\` itself, with the nodes left out of the snapshot (\`core/disruption/node-sets/set-trials.ts\`). Only what the scheduler
confirms counts. How many trials are made follows from the size of the cluster.

${table(
  ["set tried", "replaced by", "saves per hour", "pods moved", "verdict"],
  [...new Map(plan.tried.map((one) => [`${one.nodes.join()} ${one.replacements.join()}`, one])).values()].map(
    ({ nodes, replacements, savesPerHour, podsMoved: moved, verdict, why }) => [
      nodes.join(" + "),
      replacements.join(" + ") || (why === undefined ? "none" : "–"),
      why === undefined ? dollars(savesPerHour) : "–",
      String(moved),
      why === undefined ? verdict : `${verdict}: ${why.reason}`,
    ],
  ),
)}

### 4. Payback and the command

Moving ${plural(podsMoved(chosen), "pod")} off ${plural(chosen.length, "node")} counts as ${dollars(disruptionCostUsd(settings, chosen))} once. Spread over ${horizonHours} h that leaves
${dollars(netSavings(settings, chosen, command.savingsPerHour))} of the ${dollars(command.savingsPerHour)} that the command saves each hour, so the saving pays back.

${table(
  ["removed", "launched", "pods for the new node", "pods that move to nodes that stay"],
  [
    [
      command.candidates.map(({ node }) => node).join(", "),
      command.replacements.map(({ instanceTypes }) => instanceTypes[0] ?? "").join(", "),
      command.replacements.flatMap(({ pods }) => pods).join(", "),
      Object.entries(command.destinations ?? {})
        .map(([pod, claim]) => `${pod} to ${claim}`)
        .join(", "),
    ],
  ],
)}

The replacement is limited to instance types that save money whichever of them is launched. The command is stored as \`Validating\`, must still hold 15 s later, and
removes the nodes only after the replacement is initialized.
`;
}
