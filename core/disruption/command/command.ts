import type { CommandCandidate, CommandRecord, RepairOf } from "../../model/command-record.ts";
import type { PlannedNodeClaim } from "../../model/plan.ts";
import { podKey } from "../../pods/predicates.ts";
import { type Candidate, capacityTypeOf, instanceTypeNameOf, zoneOf } from "../cluster/candidate.ts";
import { type Method, reasonOf, type Tried } from "../consolidation/decision.ts";
import { savingsOf } from "../prices/savings.ts";
import { bestOthers } from "../reports/history.ts";
import { VALIDATION_DELAY_MS } from "../settings.ts";

/** Karpenter's metric label consolidation_type; empty for a method that is not consolidation. */
export function consolidationTypeOf(method: CommandRecord["method"]): string {
  if (method === "emptiness") return "empty";
  return method === "multi" || method === "single" ? method : "";
}

/** A candidate as a command stores it. */
export function commandCandidate(candidate: Candidate): CommandCandidate {
  return {
    nodeClaim: candidate.nodeClaim,
    node: candidate.node,
    nodePool: candidate.nodePool.metadata.name,
    instanceType: instanceTypeNameOf(candidate),
    capacityType: capacityTypeOf(candidate),
    zone: zoneOf(candidate),
    pricePerHour: candidate.pricePerHour,
    pods: candidate.reschedulable.map(podKey).sort(),
  };
}

/** USD per hour that a command saves; a reboot keeps the machine. */
export function savingsOfCommand(
  { repair }: Pick<CommandRecord, "repair">,
  ...nodes: Parameters<typeof savingsOf>
): ReturnType<typeof savingsOf> {
  return repair?.reboots ? 0 : savingsOf(...nodes);
}

const AT_ONCE: ReadonlySet<Method> = new Set(["drift", "sleep", "repair"]);

/**
 * The command of a decision, to be stored before anything is done. Drift, sleep and repair are due at once, because
 * pods that come or go do not change them.
 */
export function newCommand(decided: {
  readonly cluster: string;
  readonly id: string;
  readonly now: number;
  readonly method: Method;
  readonly candidates: readonly Candidate[];
  readonly replacements: readonly PlannedNodeClaim[];
  readonly destinations?: CommandRecord["destinations"];
  readonly onlyDestinations?: boolean;
  readonly repair?: RepairOf;
  readonly terminateFirst?: NonNullable<CommandRecord["terminateFirst"]>;
  /** Every set of nodes that was tried. */
  readonly tried?: readonly Tried[];
}): CommandRecord {
  const { cluster, id, now, method, replacements, destinations = {}, onlyDestinations = false, tried = [] } = decided;
  const candidates = decided.candidates.map(commandCandidate);
  return {
    cluster,
    id,
    version: 0,
    method,
    reason: reasonOf(method),
    decision: replacements.length > 0 ? "replace" : "delete",
    candidates,
    replacements,
    ...(Object.keys(destinations).length > 0 && { destinations }),
    ...(onlyDestinations && { onlyDestinations }),
    ...(decided.repair && { repair: decided.repair }),
    ...(decided.terminateFirst && { terminateFirst: decided.terminateFirst }),
    replacementClaims: [],
    savingsPerHour: savingsOfCommand(decided, candidates, replacements),
    ...(tried.length > 0 && { tried: bestOthers(tried, candidates), triedCount: tried.length }),
    phase: "Validating",
    createdAt: now,
    since: now,
    dueAt: AT_ONCE.has(method) ? now : now + VALIDATION_DELAY_MS,
  };
}
