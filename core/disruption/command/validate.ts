import type { CommandRecord } from "../../model/command-record.ts";
import { isAsleep } from "../../node-pool/schedule.ts";
import type { Effort } from "../../scheduling/search.ts";
import { isStatic } from "../../static-capacity/claim.ts";
import { allowance, poolBudgets } from "../cluster/budget.ts";
import { type Candidate, findCandidates } from "../cluster/candidate.ts";
import type { Simulate } from "../cluster/simulation.ts";
import type { ClusterView } from "../cluster/view.ts";
import { isConsolidationCandidate } from "../consolidation/consolidation.ts";
import { type RemovalTrial, tryRemoval } from "../consolidation/simulate.ts";
import { isDriftCandidate } from "../methods/drift.ts";
import { isEmptinessCandidate } from "../methods/emptiness.ts";
import { findUnhealthy, type Unhealthy } from "../methods/repair.ts";
import { isSleepCandidate } from "../methods/sleep.ts";
import { VALIDATION_DELAY_MS } from "../settings.ts";

/**
 * Age of an Emptiness command, ms, above which it is decided again: two sweeps, after which nothing but faults has kept
 * it waiting.
 */
const MAX_EMPTY_AGE_MS = 120_000;

/** Whether a command is still valid: for these candidates, or not, and why, in Karpenter's words. */
export type Validation =
  | { readonly holds: true; readonly candidates: readonly Candidate[] }
  | { readonly holds: false; readonly why: "churn" | "budget" | "scheduling" };

/** The candidates that the method could choose. */
function filterOf(method: CommandRecord["method"], now: number): (candidate: Candidate) => boolean {
  if (method === "emptiness") return (candidate) => isEmptinessCandidate(candidate, now);
  if (method === "sleep") return (candidate) => isSleepCandidate(candidate, now);
  if (method === "drift") return isDriftCandidate;
  return (candidate) => isConsolidationCandidate(candidate, now);
}

/**
 * Whether the simulation needs as many new nodes as the command, in the same NodePools, whose limits they use, paid for
 * by the same kind of commitment, and plans every instance type of the command again.
 */
function isAsPlanned(command: CommandRecord, trial: RemovalTrial): boolean {
  if (trial.unplaced.length > 0 || trial.newNodeClaims.length !== command.replacements.length) return false;
  return command.replacements.every((planned, i) => {
    const simulated = trial.newNodeClaims[i];
    const again = new Set(simulated?.instanceTypes);
    const isSame = simulated?.nodePool === planned.nodePool && simulated.paidFor === planned.paidFor;
    return isSame && planned.instanceTypes.every((type) => again.has(type));
  });
}

/** Names of the nodes that the command's pods were not planned on, where it may use no other. */
function closedTo({ onlyDestinations = false, destinations = {} }: CommandRecord, view: ClusterView): ReadonlySet<string> {
  if (!onlyDestinations) return new Set();
  const open = new Set(Object.values(destinations));
  return new Set([...view.machines].flatMap(([claim, { name }]) => (open.has(claim) ? [] : [name])));
}

function eligibleFor({ method }: CommandRecord, view: ClusterView, unhealthy: Unhealthy | undefined): readonly Candidate[] {
  const awake = findCandidates(view).all.filter(({ nodePool }) => isAsleep(nodePool, view.now) === (method === "sleep"));
  return unhealthy?.candidates ?? awake.filter(filterOf(method, view.now));
}

function isSimulatedAgain({ method, repair, terminateFirst }: CommandRecord, candidates: readonly Candidate[], isOld: boolean): boolean {
  if (method === "multi" || method === "single") return true;
  // What replaces a node of a static NodePool was not simulated, nor what follows a node that goes first or reboots.
  if (terminateFirst) return false;
  if (method === "drift") return isOld;
  if (repair === undefined || repair.reboots) return false;
  return isOld && !candidates.some(({ nodePool }) => isStatic(nodePool));
}

/**
 * Validates a command on a fresh view without the command itself. Emptiness continues with the nodes that are still
 * empty, sleep with those whose NodePool still sleeps; consolidation needs all its candidates, their budgets, and a
 * simulation with the same result; Drift needs its node to be drifted, repair to be unhealthy
 * (karpenter: pkg/controllers/disruption/validation.go, ConsolidationValidator.Validate). A command of these two is
 * carried out at once; one that could not be, or beside which a NodeClaim was planned since, is simulated again too,
 * because that may have used the limits, or be for the pods that it was planned with.
 */
export function validate(command: CommandRecord, view: ClusterView, simulate: Simulate): Validation {
  const planned = new Set(command.candidates.map(({ nodeClaim }) => nodeClaim));
  const unhealthy = command.method === "repair" ? findUnhealthy(view) : undefined;
  const remaining = eligibleFor(command, view, unhealthy).filter(({ nodeClaim }) => planned.has(nodeClaim));
  const partial = command.method === "emptiness" || command.method === "sleep";
  // Since so long ago pods may have come and gone.
  if (partial && view.now - command.createdAt > MAX_EMPTY_AGE_MS) return { holds: false, why: "churn" };
  if (remaining.length === 0 || (!partial && remaining.length < planned.size)) return { holds: false, why: "churn" };
  const budget = allowance(poolBudgets(view, command.reason));
  const allowed = remaining.filter(({ nodePool, machine }) => (unhealthy && !machine.initialized) || budget.take(nodePool.metadata.name));
  if (allowed.length === 0 || (!partial && allowed.length < remaining.length)) return { holds: false, why: "budget" };
  const isOld =
    view.now - command.createdAt >= VALIDATION_DELAY_MS ||
    [...view.records.values()].some(({ createdAt }) => createdAt >= command.createdAt);
  const simulated = isSimulatedAgain(command, allowed, isOld);
  // The command does not store which effort found it: try the quick one first.
  const closed = unhealthy?.nodes ?? closedTo(command, view);
  const settle = unhealthy === undefined;
  const holds = (effort: Effort): boolean => isAsPlanned(command, tryRemoval(view, allowed, simulate, { settle, effort, closed }));
  if (simulated && !holds("quick") && !holds("full")) return { holds: false, why: "scheduling" };
  return { holds: true, candidates: allowed };
}
