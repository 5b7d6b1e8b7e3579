import { hashedNumber } from "../../lib/pseudo-random.ts";
import type { Blocked, BlockedNode } from "../cluster/blocked.ts";
import type { PoolBudget } from "../cluster/budget.ts";
import type { Candidate } from "../cluster/candidate.ts";
import { isConsolidationCandidate } from "../consolidation/consolidation.ts";
import { type Decision, type Method, reasonOf } from "../consolidation/decision.ts";
import type { DecisionInput } from "../consolidation/input.ts";
import { circuitHold } from "../limits/circuit-breaker.ts";
import { isCountedMethod, type RateInput } from "../limits/counted.ts";
import { endOfWindow, isUnlimited, leftOf, limitOf } from "../limits/rate-limit.ts";
import { isDriftCandidate } from "./drift.ts";

type Budgets = ReadonlyMap<string, PoolBudget>;
type Run = (budgets: Budgets, candidates: readonly Candidate[]) => Decision;

/**
 * Runs a method within the limits of the cluster. Nodes of NodePools for which the circuit breaker holds the method's
 * reason stay, unless no pod must move.
 */
export function runWithinLimits(
  method: Method,
  run: Run,
  facts: { readonly budgets: Budgets; readonly candidates: readonly Candidate[]; readonly now: number },
  { rate, breaker }: Pick<DecisionInput, "rate" | "breaker">,
): Decision {
  const { candidates, now } = facts;
  const reason = reasonOf(method);
  if (breaker === undefined || !isCountedMethod(method)) return runWithinRate(method, run, facts, rate);
  const held: BlockedNode[] = [];
  const free = candidates.filter((candidate) => {
    const { node, nodeClaim, nodePool, reschedulable } = candidate;
    const { name } = nodePool.metadata;
    const hold = reschedulable.length > 0 ? circuitHold(breaker, nodePool, reason, now) : undefined;
    if (hold === undefined) return true;
    const { why, until = Number.POSITIVE_INFINITY } = hold;
    if (isEligible(method, candidate, now))
      held.push({ node, nodeClaim, blocked: { reason: "CircuitOpen", nodePool: name, disruption: reason, why, until } });
    return false;
  });
  const decision = runWithinRate(method, run, { ...facts, candidates: free }, rate);
  return held.length === 0 ? decision : { ...decision, blocked: [...decision.blocked, ...held], eligible: decision.eligible + held.length };
}

const isEligible = (method: Method, candidate: Candidate, now: number): boolean =>
  method === "drift" ? isDriftCandidate(candidate) : method === "repair" || isConsolidationCandidate(candidate, now);

/**
 * Runs a method within the cluster's disruption rate. Where the rate leaves less than the budgets of all NodePools
 * together, each NodePool gets its share of it; where it leaves nothing, only nodes that are not counted may go.
 */
function runWithinRate(
  method: Method,
  run: Run,
  { budgets, candidates, now }: { readonly budgets: Budgets; readonly candidates: readonly Candidate[]; readonly now: number },
  rate: RateInput | undefined,
): Decision {
  if (rate === undefined || !isCountedMethod(method)) return run(budgets, candidates);
  const left = leftOf(rate.window, rate.setting);
  const isCounted = ({ reschedulable, nodePool }: Candidate): boolean =>
    reschedulable.length > 0 && !isUnlimited(nodePool, reasonOf(method), now);
  const reached: Blocked = {
    ...{ reason: "RateReached", limit: limitOf(rate.window, rate.setting), windowMs: rate.setting.windowMs },
    until: endOfWindow(rate.window, rate.setting),
  };
  if (left === 0) {
    const [counted = [], free = []] = [true, false].map((is) => candidates.filter((candidate) => isCounted(candidate) === is));
    const decision = run(budgets, free);
    const blocked = counted
      .filter((one) => isEligible(method, one, now))
      .map(({ node, nodeClaim }): BlockedNode => ({ node, nodeClaim, blocked: reached }));
    return { ...decision, blocked: [...decision.blocked, ...blocked], eligible: decision.eligible + blocked.length };
  }
  const shares =
    method === "multi"
      ? sharesOf(
          left,
          candidates.filter((one) => isCounted(one) && isEligible(method, one, now)),
          budgets,
          rate,
        )
      : undefined;
  if (shares === undefined) return run(budgets, candidates);
  const decision = run(shares, candidates);
  const isCut = (pool: string): boolean => (shares.get(pool)?.allowed ?? 0) < (budgets.get(pool)?.allowed ?? 0);
  const blocked = decision.blocked.map((one) =>
    one.blocked.reason === "BudgetSpent" && isCut(one.blocked.nodePool) ? { ...one, blocked: reached } : one,
  );
  return { ...decision, blocked };
}

/** The budgets, so that together they allow `left` nodes; undefined where they allow no more as they are. */
function sharesOf(left: number, counted: readonly Candidate[], budgets: Budgets, { window }: RateInput): Budgets | undefined {
  const wanted = new Map<string, number>();
  for (const { nodePool } of counted) {
    const { name } = nodePool.metadata;
    wanted.set(name, Math.min((wanted.get(name) ?? 0) + 1, budgets.get(name)?.allowed ?? 0));
  }
  if ([...wanted.values()].reduce((sum, n) => sum + n, 0) <= left) return undefined;
  // Each window begins with another NodePool, so that none always comes first.
  const inTurn = [...wanted.keys()].sort((a, b) => hashedNumber(window.since, a) - hashedNumber(window.since, b) || (a < b ? -1 : 1));
  const shares = new Map<string, number>();
  for (let given = 0; given < left; ) {
    for (const pool of inTurn) {
      const share = shares.get(pool) ?? 0;
      if (given === left || share >= (wanted.get(pool) ?? 0)) continue;
      shares.set(pool, share + 1);
      given++;
    }
  }
  return new Map([...budgets].map(([pool, budget]) => [pool, wanted.has(pool) ? { ...budget, allowed: shares.get(pool) ?? 0 } : budget]));
}
