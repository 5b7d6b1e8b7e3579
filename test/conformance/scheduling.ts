/**
 * Solves every scenario of a folder and compares the plans with Karpenter's answers: `node
 * test/conformance/scheduling.ts [FOLDER] [NNN…] [--charge 0.02]`. In: NNN.scenario.json and NNN.karpenter.json. Out,
 * for each scenario: broken hard rules, pods that only Karpenter placed, pods in a lighter NodePool than one that
 * could take them, our price and cost and those of Karpenter's best run (a node counts the same for both); then
 * totals. The judge of test/support/scheduling shares no code with the solver, and must not.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { solve } from "#core/scheduling/solve.ts";
import { programOptions } from "../support/program-options.ts";
import { brokenRules, judge } from "../support/scheduling/check-plan.ts";
import { isHeavier, lighterThanNeeded } from "../support/scheduling/check-weights.ts";
import { claimCost, NODE_CHARGE } from "../support/scheduling/claim-cost.ts";
import { claimPrice } from "../support/scheduling/claim-price.ts";
import type { RawJson } from "../support/scheduling/judge-rules.ts";
import { readScenario, scenarioToSnapshot } from "../support/scheduling/scenario.ts";

const { values, positionals } = programOptions("usage: npm run -s conformance -- [FOLDER] [NNN...] [--charge USD_PER_HOUR_OF_A_NODE]", {
  allowPositionals: true,
  options: { charge: { type: "string", default: String(NODE_CHARGE) } },
});
const [folder = "../shared/conformance/scheduling", ...chosen] = positionals;
/** What each node counts, for both. */
const charge = Number(values.charge);
if (!existsSync(folder)) {
  console.error(`there is no folder ${folder}; give the one that holds NNN.scenario.json and NNN.karpenter.json`);
  process.exit(2);
}
const stability = new Map<string, { price: [number, number] }>();
const stabilityFile = join(folder, "stability.jsonl");
if (existsSync(stabilityFile)) {
  for (const line of readFileSync(stabilityFile, "utf8").split("\n")) {
    if (line !== "") stability.set(JSON.parse(line).file, JSON.parse(line));
  }
}

const totals = {
  scenarios: 0,
  broken: 0,
  left: 0,
  justified: 0,
  more: 0,
  lighter: 0,
  theirsLighter: 0,
  dearer: 0,
  dearerByWeight: 0,
  ours: 0,
  theirs: 0,
  ourCost: 0,
  theirCost: 0,
  ourNodes: 0,
  theirNodes: 0,
  comparable: 0,
  ms: 0,
};
for (const file of readdirSync(folder)
  .filter((name) => name.endsWith(".scenario.json"))
  .sort()) {
  if (chosen.length > 0 && !chosen.some((prefix) => file.startsWith(prefix))) continue;
  const scenario = readScenario(join(folder, file)) as Parameters<typeof brokenRules>[0];
  const answer = JSON.parse(readFileSync(join(folder, file.replace(".scenario.", ".karpenter.")), "utf8"));
  const start = performance.now();
  const plan = solve(scenarioToSnapshot(scenario), { nodeOverheadPrice: charge });
  const ms = performance.now() - start;
  const placed = new Set([...plan.newNodeClaims, ...plan.existingNodes].flatMap(({ pods }) => pods));
  const theirs: string[] = [...answer.newNodeClaims, ...answer.existingNodes].flatMap(({ pods }: { pods: string[] }) => pods);
  // kube-scheduler would not bind a pod where Karpenter's placement breaks a rule, so we need not place that pod.
  const excused = new Set(judge(scenario, answer).flatMap(({ pods }) => pods));
  const left = theirs.filter((pod) => !placed.has(pod) && !excused.has(pod));
  const justified = theirs.filter((pod) => !placed.has(pod) && excused.has(pod)).length;
  totals.justified += justified;
  const more = [...placed].filter((pod) => !theirs.includes(pod));
  const ourPrice = plan.newNodeClaims.reduce((sum, claim) => sum + claimPrice(scenario, claim), 0);
  const answerPrice = answer.newNodeClaims.reduce(
    (sum: number, claim: Parameters<typeof claimPrice>[1]) => sum + claimPrice(scenario, claim),
    0,
  );
  const theirPrice = Math.min(answerPrice, stability.get(file)?.price[0] ?? answerPrice);
  const costOf = (claims: readonly RawJson[]): number => claims.reduce((sum, claim) => sum + claimCost(scenario, claim, charge), 0);
  const ourCost = costOf(plan.newNodeClaims);
  // Of Karpenter's other runs the price alone is known.
  const theirCost = costOf(answer.newNodeClaims) - (answerPrice - theirPrice);
  const broken = brokenRules(scenario, plan);
  const lighter = lighterThanNeeded(scenario, plan);
  totals.scenarios++;
  totals.ms += ms;
  if (broken.length > 0) totals.broken++;
  totals.left += left.length;
  totals.more += more.length;
  totals.lighter += lighter.length;
  totals.theirsLighter += lighterThanNeeded(scenario, answer).length;
  const isDearer = ourCost > theirCost + 1e-6;
  if (more.length === 0 && justified === 0) {
    totals.comparable++;
    totals.ours += ourPrice;
    totals.theirs += theirPrice;
    totals.ourCost += ourCost;
    totals.theirCost += theirCost;
    totals.ourNodes += plan.newNodeClaims.length;
    totals.theirNodes += answer.newNodeClaims.length;
    if (isDearer && isHeavier(scenario, plan, answer)) totals.dearerByWeight++;
    else if (isDearer) totals.dearer++;
  }
  const marks = [
    broken.length > 0 ? "BROKEN" : "",
    left.length > 0 ? "LEFT" : "",
    lighter.length > 0 ? "LIGHTER" : "",
    isDearer && more.length === 0 && justified === 0 ? (isHeavier(scenario, plan, answer) ? "dearer by weight" : "DEARER") : "",
    more.length > 0 ? `+${more.length}` : "",
  ];
  if (chosen.length > 0 || marks.some((mark) => mark !== "")) {
    console.log(
      `${file.slice(0, 3)} ${marks
        .filter((mark) => mark !== "")
        .join(" ")
        .padEnd(
          12,
        )} left ${left.length} more ${more.length} price ${ourPrice.toFixed(4)} / ${theirPrice.toFixed(4)} cost ${ourCost.toFixed(4)} / ${theirCost.toFixed(4)} claims ${plan.newNodeClaims.length} / ${answer.newNodeClaims.length} ${ms.toFixed(1)} ms`,
    );
  }
  for (const rule of broken.slice(0, 3)) console.log(`      ${rule}`);
  for (const { text, pods } of lighter.slice(0, 2)) console.log(`      lighter: ${pods.join()}: ${text}`);
  for (const pod of left.slice(0, 2)) console.log(`      left: ${pod}: ${plan.podErrors[pod] ?? "(no error)"}`);
}
const { ours, theirs, ourCost, theirCost, ourNodes, theirNodes } = totals;
console.log(
  `${totals.scenarios} scenarios: ${totals.broken} with a hard rule broken, ${totals.left} pods left that Karpenter placed (and ${totals.justified} that it placed against a rule), ${totals.more} placed that it left, ` +
    `${totals.lighter} in a lighter pool than one that could take them (Karpenter: ${totals.theirsLighter}); ` +
    `of ${totals.comparable} comparable, ${totals.dearer} dearer, and ${totals.dearerByWeight} because more pods are in heavier pools; total ${ours.toFixed(3)} / ${theirs.toFixed(3)} $/h (${(100 * (ours / theirs - 1)).toFixed(2)} %) for ${ourNodes} / ${theirNodes} nodes, ` +
    `${ourCost.toFixed(3)} / ${theirCost.toFixed(3)} $/h with ${charge} for each node and surplus credits (${(100 * (ourCost / theirCost - 1)).toFixed(2)} %); ${totals.ms.toFixed(0)} ms`,
);
