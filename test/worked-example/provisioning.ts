import { join } from "node:path";
import { readScenario, scenarioToSnapshot } from "#cli/scenario/scenario.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { nodeCost } from "#core/offerings/node-cost.ts";
import { Attempt } from "#core/scheduling/attempt.ts";
import { priceOf as priceOfClaim } from "#core/scheduling/claims/assemble.ts";
import { type Demand, demandOf } from "#core/scheduling/packing/demand.ts";
import { GreedyKnapsack } from "#core/scheduling/packing/greedy-knapsack.ts";
import { offeringGroupsFor } from "#core/scheduling/packing/offering-groups.ts";
import { OptimalPacker } from "#core/scheduling/packing/optimal-packer.ts";
import { type NodeBatch, Packer, priceOf } from "#core/scheduling/packing/packer.ts";
import { dualRounds, ruinAndRecreate, single, VARIANTS } from "#core/scheduling/packing/packing.ts";
import { repackParts } from "#core/scheduling/packing/repack-parts.ts";
import { ShadowPrices } from "#core/scheduling/packing/shadow-prices.ts";
import type { SchedulingProblem } from "#core/scheduling/problem/problem.ts";
import type { Strategy } from "#core/scheduling/problem/strategy.ts";
import { TopologyState } from "#core/scheduling/problem/topology-state.ts";
import { solve } from "#core/scheduling/solve.ts";
import { bar } from "#terminal/bars.ts";
import { problemFromSnapshot } from "../core/scheduling/packing/packing-builders.ts";
import { dollars, plural, table } from "./words.ts";

const GIB = 2 ** 30;
/** With the default, so few pods are packed best at once, and ruin and recreate has nothing to show. */
const COSTS = { nodeOverheadPrice: 0.0022 };
const NODE_COST = nodeCost(undefined, COSTS);

/** "3 api + 2 web" of names such as api-0. */
function counted(pods: readonly string[]): string {
  const groups = Map.groupBy(pods, (name) => name.replace(/^.*\//, "").replace(/-\d+$/, ""));
  return [...groups].map(([name, list]) => `${list.length} ${name}`).join(" + ");
}

/** The worked example of a plan, from `provisioning.json`: each step of core/scheduling with what it comes to. */
export function provisioningExample(): string {
  const snapshot = scenarioToSnapshot(readScenario(join(import.meta.dirname, "provisioning.json")));
  const problem = problemFromSnapshot(snapshot, COSTS);
  const topology = new TopologyState(problem.groups);
  const width = problem.axis.names.length;
  const [cpu, memory] = [problem.axis.names.indexOf("cpu"), problem.axis.names.indexOf("memory")];
  const demand = demandOf(
    problem,
    problem.classes.map(({ pods }) => pods.length),
    topology,
  );
  const { groups } = offeringGroupsFor(demand.kinds, width);
  const prices = new ShadowPrices(groups, demand.items, demand.kinds.length, width, dualRounds(demand));
  const packer = new Packer(demand, groups, prices, width);
  const all = Int32Array.from(demand.items, ({ pods }) => pods);
  const names = itemNames(problem, demand);

  const attempt = (claims: Strategy["claims"]) => {
    const { claims: made } = new Attempt(problem, { claims, seed: 0 }).run();
    const nodes = made.map((claim) => ({
      price: priceOfClaim(claim, problem.sets),
      pods: counted(claim.pods.map(({ metadata }) => metadata.name)),
    }));
    return { nodes, price: nodes.reduce((sum, { price }) => sum + price + NODE_COST, 0) };
  };
  const row = (nodes: readonly { readonly price: number; readonly pods: string }[]): string => {
    const texts = nodes.map(({ price, pods }) => `${typeAt(snapshot, price)} with ${pods}`);
    return [...Map.groupBy(texts, (text) => text)].map(([text, list]) => `${list.length} × ${text}`).join("; ");
  };
  const firstFit = attempt("oldest");
  const karpenter = attempt("fewest-pods");
  const addedPrice = attempt("least-added-price");

  const group = groups[0];
  const unit = prices.byGroup[0];
  if (group === undefined || unit === undefined) throw new Error("the example needs an offering group");
  const typeName = (type: number): string => group.template.table.types[type]?.name ?? "";
  const values = demand.items.map((item) => prices.valueOfPod(item));
  const bound = demand.items.reduce((sum, { pods }, i) => sum + pods * (values[i] ?? 0), 0);

  const knapsack = new GreedyKnapsack(demand.kinds, demand.items, groups, prices, [1], width);
  knapsack.start(all);
  const fills = group.options.map(({ type, price, room }) => {
    const contents = knapsack.fill(0, room, 0, false);
    const value = contents.reduce((sum, [item, pods]) => sum + pods * (values[item] ?? 0), 0);
    const cost = price + NODE_COST;
    return { type: typeName(type), cost, value, contents: contentsText(contents, names), lossRatio: (cost - value) / value };
  });
  const [chosen] = [...fills].sort((a, b) => a.lossRatio - b.lossRatio);

  const variants = VARIANTS.map((variant) => ({ variant, batches: packer.pack(all, variant) }));
  const best = variants.reduce((a, b) => (priceOf(b.batches) < priceOf(a.batches) ? b : a));
  const start = best.batches.flatMap(single);
  const improved = ruinAndRecreate(start, packer, demand.items.length);
  const repacked = repackParts(improved, new OptimalPacker(demand, groups, packer.values));
  const batchRow = (batches: readonly NodeBatch[]): string => {
    const rows = batches
      .flatMap((batch) => single(batch))
      .map(({ price, contents }) => {
        return `${typeAt(snapshot, price - NODE_COST)} with ${contentsText(contents, names)}`;
      });
    return [...Map.groupBy(rows, (text) => text)].map(([text, list]) => `${list.length} × ${text}`).join("; ");
  };
  const picture = (title: string, batches: readonly NodeBatch[]): readonly string[] => {
    const lines = batches
      .flatMap((batch) => single(batch))
      .map(({ price, contents }) => {
        const option = group.options.find((one) => Math.abs(one.price - (price - NODE_COST)) < 1e-6);
        const used = (resource: number): number =>
          contents.reduce((sum, [item, pods]) => sum + pods * (demand.items[item]?.vector[resource] ?? 0), 0) /
          (option?.room[resource] ?? 1);
        const name = option === undefined ? "" : typeName(option.type);
        return `${name.padEnd(10)}  cpu ${bar(used(cpu), 10)}  memory ${bar(used(memory), 10)}  ${contentsText(contents, names)}`;
      });
    return [...Map.groupBy(lines, (line) => line)].map(
      ([line, equal], i) => `${(i === 0 ? title : "").padEnd(6)}  ${equal.length} × ${line}`,
    );
  };
  const plan = solve(snapshot, COSTS);
  const planPrice = plan.newNodeClaims.reduce((sum, { pricePerHour }) => sum + (pricePerHour ?? 0), 0);

  return `## A plan: twelve pods, three instance types

The scenario is \`test/worked-example/provisioning.json\`: no node exists, one NodePool, one zone, on-demand only.

${table(
  ["pods", "each requests"],
  demand.items.map(({ pods, vector }, i) => [
    `${pods} × ${names[i]}`,
    `${(vector[cpu] ?? 0) / 1000} cpu, ${(vector[memory] ?? 0) / GIB / 1000} GiB`,
  ]),
)}

${table(
  ["instance type", "allocatable", "$ per hour"],
  group.options.map(({ type, price, room }) => [
    typeName(type),
    `${(room[cpu] ?? 0) / 1000} cpu, ${(room[memory] ?? 0) / GIB / 1000} GiB`,
    dollars(price),
  ]),
)}

**What is minimised.** First the number of pods that no node takes, then what all new nodes cost per hour. Each node counts ${dollars(NODE_COST)} more than its
instance: its \`NODE_OVERHEAD_PRICE\`, here less than the default so that all steps can be seen. The volumes of an EC2NodeClass would count too.

### 1. Greedy attempts

An attempt (\`core/scheduling/attempt.ts\`) places the pods one after another. The strategy decides which planned NodeClaim takes a pod.

${table(
  ["strategy", "nodes", "$ per hour", "cheapest types and pods"],
  [
    ["first fit (`oldest`)", String(firstFit.nodes.length), dollars(firstFit.price), row(firstFit.nodes)],
    ["fewest pods first (Karpenter's)", String(karpenter.nodes.length), dollars(karpenter.price), row(karpenter.nodes)],
    ["least added price", String(addedPrice.nodes.length), dollars(addedPrice.price), row(addedPrice.nodes)],
  ],
)}

First fit fills the NodeClaim that exists already, whatever that costs. *Least added price* compares, for each pod, what each planned NodeClaim would cost
more with the price of a new one. It looks at one pod at a time and so cannot see which pods fill a large node together.

### 2. Shadow prices

Packing looks at all pods together: variable-sized vector bin packing. The pods become *items* with a demand, the instance types that serve the same pods
become an *offering group* with one *node option* each. The linear program that covers the demand with divisible nodes has a dual: a price for each unit
of each resource, so that no node's room is worth more than the node costs (\`core/scheduling/packing/shadow-prices.ts\`).

${table(
  ["resource", "shadow price"],
  [
    ["1 cpu", `${dollars((unit[cpu] ?? 0) * 1000)} per hour`],
    ["1 GiB of memory", `${dollars((unit[memory] ?? 0) * GIB * 1000)} per hour`],
  ],
)}

${table(
  ["item", "value of one pod", "demand", "value of all"],
  demand.items.map(({ pods }, i) => [names[i] ?? "", dollars(values[i] ?? 0), String(pods), dollars((values[i] ?? 0) * pods)]),
)}

The sum, ${dollars(bound)} per hour, is a lower bound: by weak duality no plan costs less. It is not reached because nodes are whole.

### 3. Which node is filled first

The packer (\`core/scheduling/packing/packer.ts\`) fills each node option by a greedy knapsack: large pods before small ones, memory-heavy pods beside
cpu-heavy ones. It takes the option with the lowest *loss ratio*: what the node costs more than its pods are worth, per dollar of their value.

${table(
  ["node option", "filled with", "costs", "pods are worth", "loss ratio"],
  fills.map(({ type, contents, cost, value, lossRatio }) => [type, contents, dollars(cost), dollars(value), lossRatio.toFixed(3)]),
)}

${chosen?.type ?? ""} is filled first. The packer repeats the choice until no pod is left, in ${VARIANTS.length} variants that differ for pods with rules about their host.
The cheapest variant gives ${batchRow(best.batches)}: ${dollars(priceOf(best.batches))} per hour.

### 4. Ruin and recreate

\`ruinAndRecreate\` (\`core/scheduling/packing/packing.ts\`) takes the nodes with the largest loss apart, with a few others, packs their pods again, and keeps the
result if it is cheaper. The number of steps follows from the number of nodes; the choice is pseudo-random and the same in every run.

Here it lowers the price from ${dollars(priceOf(start))} to ${dollars(priceOf(improved))} per hour:

\`\`\`text
${[...picture("before", start), ...picture("after", improved)].join("\n")}
\`\`\`

### 5. Optimal parts

\`repackParts\` (\`core/scheduling/packing/repack-parts.ts\`) packs the pods of a few nodes at the lowest cost that there is, by dynamic programming
(\`core/scheduling/packing/optimal-packer.ts\`), and keeps the new nodes if they are cheaper. A packing as small as this one is packed at once:
${priceOf(repacked) < priceOf(improved) ? `${batchRow(repacked)}, ${dollars(priceOf(repacked))} per hour.` : "it is optimal already."}

### 6. The plan

An attempt then follows the proposal: each pod goes to the node that is proposed for it if every rule of scheduling allows that, and else to the NodeClaim with
the least added price. The cheapest attempt wins: ${plural(plan.newNodeClaims.length, "node")} for ${dollars(planPrice)} per hour, as AWS bills the instances.

${table(
  ["NodeClaim", "instance types allowed", "pods"],
  plan.newNodeClaims.map(({ instanceTypes, pods }, i) => [String(i + 1), instanceTypes.join(", "), counted(pods)]),
)}
`;
}

function itemNames(problem: SchedulingProblem, { itemOfPod }: Demand): readonly string[] {
  const names: string[] = [];
  itemOfPod.forEach((items, index) => {
    const item = items?.[0];
    if (item !== undefined)
      names[item] = counted(problem.classes[index]?.pods.slice(0, 1).map(({ metadata }) => metadata.name) ?? []).slice(2);
  });
  return names;
}

const contentsText = (contents: readonly (readonly [item: number, pods: number])[], names: readonly string[]): string =>
  contents.map(([item, pods]) => `${pods} ${names[item]}`).join(" + ");

/** The instance type of a price: no two types of the example cost the same. */
function typeAt({ instanceTypes }: Snapshot, price: number): string {
  const types = [...instanceTypes.values()].flat();
  return types.find(({ offerings }) => Math.abs((offerings[0]?.price ?? 0) - price) < 1e-6)?.name ?? dollars(price);
}
