import type { Fault } from "../fault.ts";

const TRIAL_CLUSTER = ["test/core/scheduling/trial-cluster.test.ts", "test/core/scheduling/trial-cluster.property.test.ts"];
const MAKE_TRIAL = ["test/core/scheduling/make-trial.test.ts"];
const NODE_SET_SEARCH = ["test/core/disruption/node-sets/node-set-search.test.ts"];
const DESTINATION = ["test/core/disruption/node-sets/destination.test.ts"];
const LOCAL_SEARCH = ["test/core/disruption/node-sets/local-search.test.ts"];
const SET_TRIALS = ["test/core/disruption/node-sets/set-trials.test.ts"];
const PAYBACK = ["test/core/disruption/consolidation/payback.test.ts"];
const VALIDATE = ["test/core/disruption/command/validate.test.ts"];
const METHODS = ["test/core/disruption/methods.test.ts"];
const CANDIDATE = ["test/core/disruption/cluster/candidate.test.ts"];
const SLEEP = ["test/core/disruption/methods/sleep.test.ts"];
const REPAIR = ["test/core/disruption/methods/repair.test.ts"];

/** Rules of consolidation: which nodes are removed together, which stay, and what may replace them. */
export const FAULTS: readonly Fault[] = [
  {
    name: "breaker-blind",
    rule: "a reason stands still for a NodePool whose pods are worse after its command",
    edits: [
      {
        file: "core/disruption/limits/circuit-breaker.ts",
        find: "if (now - goneAt < PATIENCE_MS) {",
        replace: "if (now - goneAt < 99 * PATIENCE_MS) {",
      },
    ],
    foundBy: "unit",
    within: ["test/core/disruption/limits/circuit-breaker.test.ts"],
  },
  {
    name: "drift-all-at-once",
    rule: "drift of a NodePool begins with one node and waits for its pods",
    edits: [
      {
        file: "core/disruption/limits/circuit-breaker.ts",
        find: 'if (reason !== "Drifted") return undefined;',
        replace: "if (reason) return undefined;",
      },
    ],
    foundBy: "unit",
    within: ["test/core/disruption/limits/circuit-breaker.test.ts"],
  },
  {
    name: "destination-taken-away",
    rule: "no command disrupts a node that a command in flight counts on",
    edits: [{ file: "core/disruption/cluster/rules/all.ts", find: "  inCommand,\n  destination,\n", replace: "  inCommand,\n" }],
    foundBy: "unit",
    within: CANDIDATE,
  },
  {
    name: "drift-second-at-once",
    rule: "no second node of a NodePool or an EC2NodeClass drifts before the first one is gone",
    edits: [
      {
        file: "core/disruption/limits/circuit-breaker.ts",
        find: "proven[scope] === undefined && moves.some(({ targets })",
        replace: "proven[scope] === undefined && moves.length > 9 && moves.some(({ targets })",
      },
    ],
    foundBy: "simulation",
    within: 24,
  },
  {
    name: "empty-list-believed",
    rule: "a list that lacks most pods ends nothing until a second one says the same",
    edits: [
      {
        file: "functions/disruption/out-of-reach.ts",
        find: "if (isPlausible) return state;",
        replace: "if (isPlausible || verdict !== undefined) return state;",
      },
    ],
    foundBy: "unit",
    within: ["test/lab/doubted-lists.test.ts"],
  },
  {
    name: "rate-counts-twice",
    rule: "the end of a node counts once against the disruption rate, however often it is decided",
    edits: [
      {
        file: "core/disruption/limits/rate-limit.ts",
        find: "const more = ended.filter((name) => rate.ended[name] === undefined);",
        replace: "const more = ended.map((name, i) => [name, now, i].join());",
      },
    ],
    foundBy: "unit",
    within: ["test/core/disruption/limits/rate-limit.test.ts"],
  },
  {
    name: "rate-blind-to-pods",
    rule: "a window of the disruption rate that is used up ends early only where the pods that moved are well",
    edits: [
      {
        file: "core/disruption/limits/rate-limit.ts",
        find: "shareWell(stored.moved, pods, now - SETTLE_MS) >= MIN_WELL;",
        replace: "shareWell(stored.moved, pods, now - SETTLE_MS) >= 0;",
      },
    ],
    foundBy: "unit",
    within: ["test/core/disruption/limits/rate-limit.test.ts"],
  },
  {
    name: "budgets-in-deletable-set",
    rule: "no more nodes of a NodePool are removed together than its budget allows",
    edits: [
      {
        file: "core/disruption/node-sets/deletable-set.ts",
        find: "budget.left(pool) <= 0 || !isEmptied(candidate)",
        replace: "!isEmptied(candidate)",
      },
    ],
    foundBy: "unit",
    within: LOCAL_SEARCH,
  },
  {
    name: "budgets-in-local-search",
    rule: "the local search takes no more nodes of a NodePool than its budget allows",
    edits: [
      {
        file: "core/disruption/node-sets/local-search.ts",
        find: "if (!set.delete(candidate) && hasBudget(candidate, set, budgets)) set.add(candidate);",
        replace: "if (!set.delete(candidate)) set.add(candidate);",
      },
    ],
    foundBy: "unit",
    within: LOCAL_SEARCH,
  },
  {
    name: "budgets-in-growth",
    rule: "nodes whose budget is spent are not added to a set",
    edits: [
      {
        file: "core/disruption/node-sets/node-set-search.ts",
        find: "return budget.take(candidate.nodePool.metadata.name) && room.take(candidate);",
        replace: "return room.take(candidate);",
      },
    ],
    foundBy: "unit",
    within: NODE_SET_SEARCH,
  },
  {
    name: "budget-reported",
    rule: "nodes that stay because of their budget are reported",
    edits: [
      {
        file: "core/disruption/node-sets/node-set-search.ts",
        find: "if (chosen.has(candidate) || budget.left(nodePool) > 0) return [];",
        replace: "return [];",
      },
    ],
    foundBy: "unit",
    within: NODE_SET_SEARCH,
  },
  {
    name: "node-do-not-disrupt",
    rule: "a node annotated do-not-disrupt stays",
    edits: [
      {
        file: "core/disruption/cluster/candidate.ts",
        find: "rules: readonly Rule[] = NODE_RULES): Candidate",
        replace: "rules: readonly Rule[] = NODE_RULES.slice(0, 0)): Candidate",
      },
    ],
    foundBy: "unit",
    within: [...NODE_SET_SEARCH, ...CANDIDATE],
  },
  {
    name: "pod-rules",
    rule: "a node with a pod that a PodDisruptionBudget or do-not-disrupt holds stays",
    edits: [
      { file: "core/disruption/consolidation/consolidation.ts", find: "if (candidate.heldByPod) return candidate.heldByPod;", replace: "" },
    ],
    foundBy: "unit",
    within: NODE_SET_SEARCH,
  },
  {
    name: "settling",
    rule: "nodes inside their consolidateAfter window stay",
    edits: [
      {
        file: "core/disruption/consolidation/consolidation.ts",
        find: "if (candidate.consolidatableFrom > now)",
        replace: "if (candidate.consolidatableFrom > now + Number.MAX_VALUE)",
      },
    ],
    foundBy: "unit",
    within: NODE_SET_SEARCH,
  },
  {
    name: "settling-destinations",
    rule: "no pod is moved to a node inside its consolidateAfter window",
    edits: [
      {
        file: "core/disruption/consolidation/simulate.ts",
        find: "if (from > view.now && from !== Number.POSITIVE_INFINITY) settling.add(name);",
        replace: "",
      },
    ],
    foundBy: "unit",
    within: NODE_SET_SEARCH,
  },
  {
    name: "closed",
    rule: "closed nodes take no pod",
    edits: [
      {
        file: "core/scheduling/trial-cluster.ts",
        find: "overcommitted || closed.has(view.name) ? 0 : 1",
        replace: "overcommitted ? 0 : 1",
      },
    ],
    foundBy: "unit",
    within: TRIAL_CLUSTER,
  },
  {
    name: "removed-nodes",
    rule: "a removed node takes no pod",
    edits: [
      { file: "core/scheduling/trial-cluster.ts", find: "suits[n] !== 1 || this.#isRemoved[n] === 1 || ", replace: "suits[n] !== 1 || " },
    ],
    foundBy: "unit",
    within: TRIAL_CLUSTER,
  },
  {
    name: "revert-of-room",
    rule: "a reverted step gives back the room that it took",
    edits: [
      {
        file: "core/scheduling/trial-cluster.ts",
        find: "rooms[at + r] = (rooms[at + r] ?? 0) + (vector[r] ?? 0);\n      placedPods.pop();",
        replace: "placedPods.pop();",
      },
    ],
    foundBy: "unit",
    within: TRIAL_CLUSTER,
  },
  {
    name: "revert-of-placed-pods",
    rule: "a reverted step removes the pods that it placed",
    edits: [{ file: "core/scheduling/trial-cluster.ts", find: "placedPods.pop();", replace: "" }],
    foundBy: "unit",
    within: TRIAL_CLUSTER,
  },
  {
    name: "revert-of-ports",
    rule: "a reverted step frees the host ports that it took",
    edits: [{ file: "core/scheduling/trial-cluster.ts", find: "this.#ports[node] = before;", replace: "" }],
    foundBy: "unit",
    within: TRIAL_CLUSTER,
  },
  {
    name: "revert-of-volumes",
    rule: "a reverted step detaches the volumes that it attached",
    edits: [{ file: "core/scheduling/trial-cluster.ts", find: "this.#journal.push(() => attached?.set(driver, before));", replace: "" }],
    foundBy: "unit",
    within: TRIAL_CLUSTER,
  },
  {
    name: "revert-of-counts",
    rule: "a reverted step restores the counts of spreads and affinities",
    edits: [{ file: "core/scheduling/problem/topology-state.ts", find: "else counts.set(domain, pods);", replace: "" }],
    foundBy: "unit",
    within: TRIAL_CLUSTER,
  },
  {
    name: "counts-of-moved-pods",
    rule: "pods that move no longer count on their old node",
    edits: [
      {
        file: "core/scheduling/trial-cluster.ts",
        find: "if (relaxations[0] !== undefined) this.#count(node, relaxations[0], -1);",
        replace: "if (relaxations[0] === undefined) this.#count(node, relaxations[0], -1);",
      },
    ],
    foundBy: "unit",
    within: TRIAL_CLUSTER,
  },
  {
    name: "largest-first",
    rule: "of pods that move together the largest are placed first",
    edits: [
      {
        file: "core/scheduling/trial-cluster.ts",
        find: "placedPods.sort((a, b) => (a.relaxations[0]?.class.index ?? 0) - (b.relaxations[0]?.class.index ?? 0))",
        replace: "placedPods",
      },
    ],
    foundBy: "unit",
    within: TRIAL_CLUSTER,
  },
  {
    name: "waiting-pods",
    rule: "pending pods keep the room that they will get",
    edits: [{ file: "core/scheduling/trial-cluster.ts", find: "for (const placedPod of waiting) this.#place(placedPod);", replace: "" }],
    foundBy: "unit",
    within: [...TRIAL_CLUSTER, ...MAKE_TRIAL],
  },
  {
    name: "virtual-pods",
    rule: "virtual pods of CapacityBuffers keep their room",
    edits: [{ file: "core/scheduling/make-trial.ts", find: "...pending.pods, ...pending.virtual])]", replace: "...pending.pods])]" }],
    foundBy: "unit",
    within: MAKE_TRIAL,
  },
  {
    name: "strictly-cheaper",
    rule: "several replacements cost strictly less together than the candidates",
    edits: [
      {
        file: "core/disruption/consolidation/consolidation.ts",
        find: "const costs = totalPrice(candidates) - MIN_SAVINGS;",
        replace: "const costs = totalPrice(candidates) + MIN_SAVINGS;",
      },
    ],
    foundBy: "unit",
    within: SET_TRIALS,
  },
  {
    name: "shares",
    rule: "each of several replacements costs at most its share, however it is launched",
    edits: [
      {
        file: "core/disruption/consolidation/consolidation.ts",
        find: "const limit = planned.length === 1 ? costs : claim.pricePerHour * (costs / needs);",
        replace: "const limit = costs;",
      },
    ],
    foundBy: "unit",
    within: SET_TRIALS,
  },
  {
    name: "worst-price",
    rule: "a replacement is cheaper in whichever zone it is launched",
    edits: [
      {
        file: "core/disruption/prices/price.ts",
        find: "if (prices.length > 0) return Math.max(...prices);",
        replace: "if (prices.length > 0) return Math.min(...prices);",
      },
    ],
    foundBy: "unit",
    within: METHODS,
  },
  {
    name: "one-of-several",
    rule: "a lone replacement is of a candidate's type only where it is cheaper than each such candidate",
    edits: [
      {
        file: "core/disruption/node-sets/set-trials.ts",
        find: "...(candidates.length > 1 && { narrow:",
        replace: "...(candidates.length > 99 && { narrow:",
      },
    ],
    foundBy: "unit",
    within: SET_TRIALS,
  },
  {
    name: "more-nodes",
    rule: "there are no more replacements than allowed",
    edits: [
      {
        file: "core/disruption/consolidation/consolidation.ts",
        find: 'if (planned.length > mostReplacements) return none({ reason: "SeveralReplacements", count: planned.length });',
        replace: "",
      },
    ],
    foundBy: "unit",
    within: [...SET_TRIALS, ...NODE_SET_SEARCH],
  },
  {
    name: "extra-nodes",
    rule: "each additional node must save its extra price",
    edits: [{ file: "core/disruption/consolidation/consolidation.ts", find: "if (costSaved <= 0)", replace: "if (false)" }],
    foundBy: "unit",
    within: [...SET_TRIALS, ...NODE_SET_SEARCH],
  },
  {
    name: "removed-stays-removed",
    rule: "a node that was removed before a step stays removed when the step is reverted",
    edits: [{ file: "core/scheduling/trial-cluster.ts", find: "if (this.#isRemoved[node] === 1) return [];", replace: "" }],
    foundBy: "unit",
    within: TRIAL_CLUSTER,
  },
  {
    name: "sixty-types",
    rule: "each of several replacements offers the sixty cheapest types",
    edits: [
      {
        file: "core/disruption/consolidation/consolidation.ts",
        find: "planned.length === 1 ? cheaper : cheapestFew(cheaper, MAX_TYPES_PER_REPLACEMENT)",
        replace: "cheaper",
      },
    ],
    foundBy: "unit",
    within: SET_TRIALS,
  },
  {
    name: "min-values",
    rule: "types are not cut below what minValues need",
    edits: [
      { file: "core/disruption/consolidation/consolidation.ts", find: "if (!minValuesShortfall(cut)) return cut;", replace: "return cut;" },
    ],
    foundBy: "unit",
    within: SET_TRIALS,
  },
  {
    name: "spot-to-spot",
    rule: "spot is not replaced by spot unless SpotToSpotConsolidation is on",
    edits: [
      {
        file: "core/disruption/consolidation/consolidation.ts",
        find: 'if (!settings.spotToSpotConsolidation) return { reason: "SpotToSpotDisabled" };',
        replace: "",
      },
    ],
    foundBy: "unit",
    within: [...SET_TRIALS, ...NODE_SET_SEARCH],
  },
  {
    name: "fifteen-types",
    rule: "one spot node is replaced by spot only with fifteen cheaper types",
    edits: [
      {
        file: "core/disruption/consolidation/consolidation.ts",
        find: "if (cheaper.types.length < SPOT_TO_SPOT_MIN_TYPES)",
        replace: "if (cheaper.types.length < 0)",
      },
    ],
    foundBy: "unit",
    within: METHODS,
  },
  {
    name: "horizon",
    rule: "savings pay back the disruption cost within the horizon",
    edits: [
      {
        file: "core/disruption/consolidation/payback.ts",
        find: "if (horizonMs === undefined || netSavings(settings, candidates, savesPerHour) >= 0) return undefined;",
        replace: "if (horizonMs === undefined || savesPerHour >= 0) return undefined;",
      },
    ],
    foundBy: "unit",
    within: PAYBACK,
  },
  {
    name: "horizon-of-sets",
    rule: "net savings of a set are less its disruption cost",
    edits: [
      {
        file: "core/disruption/consolidation/payback.ts",
        find: "(disruptionCostUsd(settings, candidates) * HOUR_MS) / horizonMs",
        replace: "0 / horizonMs",
      },
    ],
    foundBy: "unit",
    within: [...SET_TRIALS, ...LOCAL_SEARCH],
  },
  {
    name: "many-moves",
    rule: "a set that saves hardly more by many more moves is not better",
    edits: [{ file: "core/disruption/node-sets/set-trials.ts", find: "const MOVE_PENALTY = 0.003;", replace: "const MOVE_PENALTY = 0;" }],
    foundBy: "unit",
    within: SET_TRIALS,
  },
  {
    name: "volumes-of-nodes",
    rule: "of equal savings, more removed nodes are better",
    edits: [
      {
        file: "core/disruption/prices/cost.ts",
        find: "sum + pricePerHour + surplusPerHour + own, 0);",
        replace: "sum + pricePerHour + surplusPerHour + 0 * own, 0);",
      },
    ],
    foundBy: "unit",
    within: SET_TRIALS,
  },
  {
    name: "out-of-time",
    rule: "a search ends when its time is up",
    edits: [
      {
        file: "core/disruption/node-sets/node-set-search.ts",
        find: "low <= high && !trials.isExhausted && !outOfTime();",
        replace: "low <= high && !trials.isExhausted;",
      },
    ],
    foundBy: "unit",
    within: NODE_SET_SEARCH,
  },
  {
    name: "unplaced",
    rule: "the local search leaves no pod unscheduled",
    edits: [{ file: "core/disruption/node-sets/local-search.ts", find: "if (unplaced.length > 0", replace: "if (unplaced.length > 99" }],
    foundBy: "unit",
    within: LOCAL_SEARCH,
  },
  {
    name: "validated-budget",
    rule: "a command is abandoned when its budget no longer allows it",
    edits: [
      {
        file: "core/disruption/command/validate.ts",
        find: 'return { holds: false, why: "budget" };',
        replace: "return { holds: true, candidates: allowed };",
      },
    ],
    foundBy: "unit",
    within: VALIDATE,
  },
  {
    name: "validated-room",
    rule: "a command is abandoned when it needs another number of replacements",
    edits: [
      {
        file: "core/disruption/command/validate.ts",
        find: "trial.newNodeClaims.length !== command.replacements.length",
        replace: "trial.newNodeClaims.length < 0",
      },
    ],
    foundBy: "unit",
    within: VALIDATE,
  },
  {
    name: "validated-types",
    rule: "a command is abandoned when its types are not planned again",
    edits: [
      {
        file: "core/disruption/command/validate.ts",
        find: "planned.instanceTypes.every((type) => again.has(type))",
        replace: "planned.instanceTypes.every((type) => again.size > 0 || type)",
      },
    ],
    foundBy: "unit",
    within: VALIDATE,
  },
  {
    name: "late-drift",
    rule: "a Drift command that is carried out late is simulated again",
    edits: [
      {
        file: "core/disruption/command/validate.ts",
        find: 'if (method === "drift") return isOld;',
        replace: 'if (method === "drift") return false;',
      },
    ],
    foundBy: "unit",
    within: ["test/core/disruption/command/validate.test.ts"],
  },
  {
    name: "payback-of-owners-cost",
    rule: "what is to be repaid within the horizon is weighed with volumes and overhead of replaced nodes",
    edits: [
      {
        file: "core/disruption/consolidation/consolidation.ts",
        find: "refused(savingsOf(candidates, replacements), costSaved);",
        replace: "refused(savingsOf(candidates, replacements), savingsOf(candidates, replacements));",
      },
    ],
    foundBy: "unit",
    within: PAYBACK,
  },
  {
    name: "payback-of-deletions",
    rule: "a deletion repays its moves after the surplus credits that it adds",
    edits: [
      {
        file: "core/disruption/consolidation/consolidation.ts",
        find: "const poor = refused(totalPrice(candidates), costs - surplus);",
        replace: "const poor = refused(totalPrice(candidates), costs);",
      },
    ],
    foundBy: "unit",
    within: PAYBACK,
  },
  {
    name: "payback-at-best",
    rule: "the overhead of a node that goes counts before anything is simulated",
    edits: [
      {
        file: "core/disruption/consolidation/consolidation.ts",
        find: "refused(totalPrice(candidates), costs);",
        replace: "refused(totalPrice(candidates), totalPrice(candidates));",
      },
    ],
    foundBy: "unit",
    within: PAYBACK,
  },
  {
    name: "recent-pods",
    rule: "a pod that started within the horizon counts as many pods",
    edits: [
      { file: "core/disruption/consolidation/payback.ts", find: "const RECENT_POD_FACTOR = 20;", replace: "const RECENT_POD_FACTOR = 1;" },
    ],
    foundBy: "unit",
    within: PAYBACK,
  },
  {
    name: "stay-margin",
    rule: "a node that costs a little more than the planned nodes in its place stays",
    edits: [{ file: "core/disruption/node-sets/destination.ts", find: "const STAY_MARGIN = 0.05;", replace: "const STAY_MARGIN = 0;" }],
    foundBy: "unit",
    within: DESTINATION,
  },
  {
    name: "stay-margin-is-small",
    rule: "a node that costs a tenth more than the planned nodes in its place goes",
    edits: [{ file: "core/disruption/node-sets/destination.ts", find: "const STAY_MARGIN = 0.05;", replace: "const STAY_MARGIN = 0.15;" }],
    foundBy: "unit",
    within: DESTINATION,
  },
  {
    name: "closed-to-later-moves",
    rule: "a step toward the destination moves no pod to a node that goes later",
    edits: [
      {
        file: "core/disruption/node-sets/toward-destination.ts",
        find: "closed: new Set(go.map(({ node }) => node))",
        replace: "closed: new Set<string>()",
      },
    ],
    foundBy: "unit",
    within: DESTINATION,
  },
  {
    name: "closed-in-simulations",
    rule: "a simulated removal moves no pod to closed nodes",
    edits: [
      {
        file: "core/disruption/consolidation/consolidation.ts",
        find: ", ...(context.closed && { closed: context.closed }) }",
        replace: " }",
      },
    ],
    foundBy: "unit",
    within: DESTINATION,
  },
  {
    name: "tiny-clusters",
    rule: "a cluster of 30 nodes has no destination",
    edits: [
      {
        file: "core/disruption/node-sets/node-set-search.ts",
        find: "const TINY_CLUSTER_NODES = 30;",
        replace: "const TINY_CLUSTER_NODES = 29;",
      },
    ],
    foundBy: "unit",
    within: NODE_SET_SEARCH,
  },
  {
    name: "larger-than-tiny",
    rule: "a cluster of 31 nodes has a destination",
    edits: [
      {
        file: "core/disruption/node-sets/node-set-search.ts",
        find: "const TINY_CLUSTER_NODES = 30;",
        replace: "const TINY_CLUSTER_NODES = 31;",
      },
    ],
    foundBy: "unit",
    within: NODE_SET_SEARCH,
  },
  {
    name: "sleep-budget",
    rule: "nodes of a sleeping NodePool go as its budgets allow",
    edits: [
      {
        file: "core/disruption/methods/sleep.ts",
        find: "if (budget.take(candidate.nodePool.metadata.name)) return size.take(candidate);",
        replace: "if (size.take(candidate)) return true;",
      },
    ],
    foundBy: "unit",
    within: SLEEP,
  },
  {
    name: "sleep-held",
    rule: "a pod that may not be disrupted keeps its node at night",
    edits: [
      {
        file: "core/disruption/methods/sleep.ts",
        find: "return heldByPod === undefined && isAsleep(nodePool, now);",
        replace: "return isAsleep(nodePool, now);",
      },
    ],
    foundBy: "unit",
    within: SLEEP,
  },
  {
    name: "sleep-destination",
    rule: "no pod is moved to a node of a sleeping NodePool",
    edits: [
      { file: "core/disruption/consolidation/simulate.ts", find: "if (pool && isAsleep(pool, view.now)) settling.add(name);", replace: "" },
    ],
    foundBy: "unit",
    within: SLEEP,
  },
  {
    name: "sleep-lead",
    rule: "a NodePool wakes before the morning",
    edits: [{ file: "core/node-pool/schedule.ts", find: "const until = morning - LEAD_MS;", replace: "const until = morning;" }],
    foundBy: "unit",
    within: ["test/core/node-pool/schedule.test.ts"],
  },
  {
    name: "NodePools without time stay last",
    rule: "NodePools that a pass has no time for come first in the next pass",
    edits: [
      {
        file: "functions/disruption/disrupt.ts",
        find: "...(lastPass && { unseenPools: lastPass.unseenPools }),",
        replace: "",
      },
    ],
    foundBy: "unit",
    within: ["test/functions/disruption/disrupt.test.ts"],
  },
  {
    name: "commands are not resumed once they are being carried out",
    rule: "each pass resumes the stored commands of every phase",
    edits: [
      {
        file: "functions/disruption/disrupt.ts",
        find: "for (const command of state.commands) {",
        replace: 'for (const command of state.commands.filter(({ phase }) => phase === "Validating")) {',
      },
    ],
    foundBy: "simulation",
    within: 20,
  },
  {
    name: "budget counted without the nodes that are under way",
    rule: "a budget counts nodes that leave or are not Ready",
    edits: [
      {
        file: "core/disruption/cluster/budget.ts",
        find: "if (isLeaving || isDown) add(disrupting, pool);",
        replace: "if (isLeaving && isDown) add(disrupting, pool);",
      },
    ],
    foundBy: "simulation",
    within: 60,
  },
  {
    name: "disruption command carried out without its second look",
    rule: "a command is validated again before it is carried out",
    edits: [
      {
        file: "core/disruption/command/advance-command.ts",
        find: "return validation.holds ? execute(context, validation) : abandon(context, validation.why);",
        replace: "return execute(context, validation as never);",
      },
      {
        file: "core/disruption/command/advance-command.ts",
        find: "const kept = candidates.map(commandCandidate).sort((a, b) => order(command, a.nodeClaim) - order(command, b.nodeClaim));",
        replace: "const kept = command.candidates;",
      },
    ],
    foundBy: "simulation",
    within: 40,
  },
  {
    name: "candidates ended when the first of several replacements is up",
    rule: "candidates end once all replacements are initialized",
    edits: [
      {
        file: "core/disruption/command/advance-command.ts",
        find: "if (waiting.length === 0)",
        replace: "if (waiting.length < command.replacementClaims.length)",
      },
    ],
    foundBy: "simulation",
    within: 100,
  },
  {
    name: "command decided and carried out at once",
    rule: "a command of consolidation is carried out after its validation delay",
    edits: [
      {
        file: "core/disruption/command/command.ts",
        find: "dueAt: AT_ONCE.has(method) ? now : now + VALIDATION_DELAY_MS,",
        replace: "dueAt: now + 0 * VALIDATION_DELAY_MS,",
      },
    ],
    foundBy: "simulation",
    within: 40,
  },
  {
    name: "do-not-disrupt ignored by disruption",
    rule: "a node with a do-not-disrupt pod is no candidate",
    edits: [
      {
        file: "core/disruption/cluster/candidate.ts",
        find: "heldByPod: firstOf(POD_RULES, machine, view),",
        replace: "heldByPod: firstOf(POD_RULES.slice(0, 0), machine, view),",
      },
    ],
    foundBy: "simulation",
    within: 40,
  },
  {
    name: "every node drifted",
    rule: "a node whose hash is that of its NodePool has not drifted",
    edits: [{ file: "core/drift/detect.ts", find: "return a[hash] !== b[hash];", replace: "return a[hash] !== undefined;" }],
    foundBy: "simulation",
    within: 20,
  },
  {
    name: "replacements not waited for",
    rule: "a command waits until its replacements are initialized",
    edits: [
      {
        file: "core/disruption/command/advance-command.ts",
        find: "const waiting = command.replacementClaims.filter((name) => !isUp(view, name));",
        replace:
          "const waiting = command.replacementClaims.filter((name) => !isUp(view, name) && view.records.get(name)?.launchedAt === undefined);",
      },
    ],
    foundBy: "simulation",
    within: 20,
  },
  {
    name: "budget spent anew by each command",
    rule: "the commands of a pass share one budget",
    edits: [
      {
        file: "core/disruption/cluster/budget.ts",
        find: "allowed: Math.max(0, limit - leaving) });",
        replace: "allowed: limit });",
      },
    ],
    foundBy: "simulation",
    within: 40,
  },
  {
    name: "empty nodes stay",
    rule: "empty nodes are removed",
    edits: [
      {
        file: "core/disruption/methods/emptiness.ts",
        find: "const found = chosen.slice(0, MAX_EMPTY_NODES);",
        replace: "const found = chosen.slice(MAX_EMPTY_NODES);",
      },
    ],
    foundBy: "simulation",
    within: 60,
  },
  {
    name: "drift not noticed",
    rule: "a node whose hash differs from its NodePool's has drifted",
    edits: [{ file: "core/drift/detect.ts", find: "return a[hash] !== b[hash];", replace: "return a[hash] === undefined;" }],
    foundBy: "simulation",
    within: 60,
  },
  {
    name: "repair-do-not-repair",
    rule: "a node with do-not-repair is not repaired",
    edits: [
      {
        file: "core/disruption/cluster/rules/do-not-repair.ts",
        find: 'DO_NOT_REPAIR] === "true")',
        replace: 'DO_NOT_REPAIR] === "never")',
      },
    ],
    foundBy: "unit",
    within: REPAIR,
  },
  {
    name: "repair-budget",
    rule: "repair takes nodes only from its budget",
    edits: [
      {
        file: "core/disruption/methods/repair.ts",
        find: "candidate.machine.initialized && !budget.take(candidate.nodePool.metadata.name)",
        replace: "candidate.machine.initialized && budget.left(candidate.nodePool.metadata.name) < -9",
      },
    ],
    foundBy: "unit",
    within: REPAIR,
  },
  {
    name: "repair-budget-of-silent-nodes",
    rule: "nodes that wait for repair do not use its budget up",
    edits: [
      {
        file: "core/disruption/cluster/budget.ts",
        find: 'reason !== "Unhealthy" && !isTrue(',
        replace: "!isTrue(",
      },
    ],
    foundBy: "unit",
    within: REPAIR,
  },
  {
    name: "repair-uninitialized",
    rule: "a node that never became initialized is repaired",
    edits: [
      {
        file: "core/disruption/cluster/rules/all.ts",
        find: "rule !== initialized && rule",
        replace: "rule",
      },
    ],
    foundBy: "unit",
    within: REPAIR,
  },
  {
    name: "repair-held-pods",
    rule: "repair plans room also for pods that nothing may evict now",
    edits: [
      {
        file: "core/disruption/methods/repair.ts",
        find: "moving: found.reschedulable, fault",
        replace: "fault",
      },
    ],
    foundBy: "unit",
    within: REPAIR,
  },
  {
    name: "repair-onto-unhealthy",
    rule: "repair moves no pod to another unhealthy node",
    edits: [
      {
        file: "core/disruption/methods/repair.ts",
        find: "{ settle: false, closed: nodes }",
        replace: "{ settle: false }",
      },
    ],
    foundBy: "unit",
    within: REPAIR,
  },
  {
    name: "repair-common-fault",
    rule: "a fault that comes to many nodes at once is not repaired",
    edits: [
      {
        file: "core/disruption/methods/repair.ts",
        find: "if (alike) return",
        replace: "if (alike && view.now < 0) return",
      },
    ],
    foundBy: "unit",
    within: REPAIR,
  },
  {
    name: "repair-order",
    rule: "the node whose toleration ended first is repaired first",
    edits: [
      {
        file: "core/disruption/methods/repair.ts",
        find: "return a.fault.dueAt - b.fault.dueAt ||",
        replace: "return b.fault.dueAt - a.fault.dueAt ||",
      },
    ],
    foundBy: "unit",
    within: REPAIR,
  },
  {
    name: "repair-again",
    rule: "a repair holds only while its node is unhealthy",
    edits: [
      {
        file: "core/disruption/command/validate.ts",
        find: "return unhealthy?.candidates ?? awake",
        replace: "return awake",
      },
    ],
    foundBy: "unit",
    within: REPAIR,
  },
  {
    name: "repair-unknown-xid",
    rule: "an XID that is not named is tolerated for 30 minutes",
    edits: [
      {
        file: "core/repair/health.ts",
        find: "return named.length > 0 ? named :",
        replace: "return named.length > 0 || own.length > 1 ? own.slice(0, 1) :",
      },
    ],
    foundBy: "unit",
    within: ["test/core/repair/health.test.ts"],
  },
  {
    name: "repair-drain-bound",
    rule: "the drain of a repair ends after its time",
    edits: [
      {
        file: "functions/disruption/perform.ts",
        find: "const deadline = deps.now() + repair.drainMs;",
        replace: "const deadline = deps.now() + 10 * repair.drainMs;",
      },
    ],
    foundBy: "unit",
    within: ["test/lab/node-repair.test.ts"],
  },
  {
    name: "terminate-first-unasked",
    rule: "an unhealthy node goes before its replacement only under TerminateFirstRepair",
    edits: [
      {
        file: "core/disruption/methods/repair.ts",
        find: "const freed = settings.terminateFirstRepair ? tryWithOwnPlace",
        replace: "const freed = settings.cluster ? tryWithOwnPlace",
      },
    ],
    foundBy: "unit",
    within: REPAIR,
  },
  {
    name: "terminate-first-drift-unasked",
    rule: "a drifted node goes before its replacement only under TerminateFirstDrift",
    edits: [
      {
        file: "core/disruption/methods/drift.ts",
        find: "const first = settings.terminateFirstDrift ?",
        replace: "const first = settings.cluster ?",
      },
    ],
    foundBy: "unit",
    within: ["test/core/disruption/methods/terminate-first-drift.test.ts"],
  },
  {
    name: "terminate-first-drift-of-all",
    rule: "a drifted node of a static NodePool at limits.nodes goes first only under TerminateFirstDrift",
    edits: [
      {
        file: "core/disruption/methods/static-drift.ts",
        find: "terminateFirstDrift ?",
        replace: "view ?",
      },
    ],
    foundBy: "unit",
    within: ["test/core/disruption/methods/static-drift.test.ts"],
  },
  {
    name: "terminate-first-without-refill",
    rule: "a node of a static NodePool goes first only where another one follows",
    edits: [
      {
        file: "core/disruption/methods/terminate-first.ts",
        find: 'isTrue(status?.conditions, "Ready") &&',
        replace: "(isTrue(status?.conditions, metadata.name) || true) &&",
      },
    ],
    foundBy: "unit",
    within: REPAIR,
  },
  {
    name: "reboot-budget",
    rule: "a node that reboots uses its budget up",
    edits: [
      {
        file: "core/disruption/cluster/budget.ts",
        find: "!(machine.initialized || isRebooting)",
        replace: "!machine.initialized",
      },
    ],
    foundBy: "unit",
    within: REPAIR,
  },
  {
    name: "reboot-of-broken-hardware",
    rule: "a fault that needs another machine is not rebooted away",
    edits: [
      {
        file: "core/disruption/methods/repair.ts",
        find: "const decides = due.find(({ reboots }) => !reboots) ?? first;",
        replace: "const decides = first;",
      },
    ],
    foundBy: "unit",
    within: REPAIR,
  },
  {
    name: "reboot-again-and-again",
    rule: "a node that two reboots a day have not helped is replaced",
    edits: [
      {
        file: "core/repair/reboots.ts",
        find: "const MAX_REBOOTS = 2;",
        replace: "const MAX_REBOOTS = 200;",
      },
    ],
    foundBy: "unit",
    within: ["test/lab/reboot.test.ts"],
  },
  {
    name: "reboot-toleration",
    rule: "after a reboot a fault is tolerated again",
    edits: [
      {
        file: "core/disruption/methods/repair.ts",
        find: "faultsOf(machine.node, rebootedAt(machine))",
        replace: "faultsOf(machine.node, 0 * rebootedAt(machine))",
      },
    ],
    foundBy: "unit",
    within: REPAIR,
  },
  {
    name: "reboot-twice",
    rule: "EC2 is asked again for a reboot only when an earlier call can no longer be heeded",
    edits: [
      {
        file: "core/lifecycle/reboot.ts",
        find: "view.now < rebootSentAt + ASK_AGAIN_MS",
        replace: "view.now < rebootSentAt",
      },
    ],
    foundBy: "unit",
    within: ["test/core/lifecycle/reboot.test.ts"],
  },
  {
    name: "reboot-undrained",
    rule: "a node is drained before its reboot",
    edits: [
      {
        file: "core/lifecycle/reboot.ts",
        find: "if (drainMs === 0) return undefined;",
        replace: "if (drainMs >= 0) return undefined;",
      },
    ],
    foundBy: "unit",
    within: ["test/core/lifecycle/reboot.test.ts"],
  },
  {
    name: "reboot-for-ever",
    rule: "a node that does not come back from its reboot is replaced",
    edits: [
      {
        file: "core/lifecycle/reboot.ts",
        find: "if (view.now > issuedAtOf(claim) + RECOVERY_MS)",
        replace: "if (view.now > issuedAtOf(claim) + 9 * RECOVERY_MS)",
      },
    ],
    foundBy: "unit",
    within: ["test/core/lifecycle/reboot.test.ts"],
  },
  {
    name: "reboot-taint-off-early",
    rule: "a node takes no pods before its new boot",
    edits: [
      {
        file: "core/lifecycle/reboot.ts",
        find: "const isTainted = hasRebooted && hasTaint",
        replace: "const isTainted = hasTaint",
      },
    ],
    foundBy: "unit",
    within: ["test/core/lifecycle/reboot.test.ts"],
  },
];
