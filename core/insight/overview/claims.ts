import { conditionOf, fromRfc3339, isTrue } from "../../model/conditions.ts";
import { CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL, ZONE } from "../../model/labels.ts";
import { isIntended, type NodeClaim } from "../../model/node-claim.ts";
import type { NodeClaimRecord } from "../../model/node-claim-record.ts";
import type { ReadState } from "./decisions.ts";
import type { ClaimOverview, ClaimStep, StepTime } from "./types.ts";

const STEPS = ["Launched", "Registered", "Initialized"] as const;
const NAMES = { Launched: "launched", Registered: "registered", Initialized: "initialized" } as const;

/** How long each step took on the NodeClaims of the snapshot that have done it. */
export function stepTimes({ snapshot }: ReadState): readonly StepTime[] {
  return STEPS.flatMap((step, i) => {
    const before = STEPS[i - 1];
    const times = snapshot.nodeClaims
      .map((claim) => timeOf(claim, step) - (before === undefined ? createdAt(claim) : timeOf(claim, before)))
      .filter((ms) => Number.isFinite(ms) && ms >= 0)
      .sort((a, b) => a - b);
    const median = times[Math.floor(times.length / 2)];
    return median === undefined ? [] : [{ step: NAMES[step], medianMs: median, claims: times.length }];
  });
}

/** NodeClaims that are neither initialized nor being removed, the oldest first, also those without an object yet. */
export function claimsOnTheWay({ snapshot, records }: ReadState, times: readonly StepTime[]): readonly ClaimOverview[] {
  const byName = new Map(records.map((record) => [record.name, record]));
  const waiting = snapshot.nodeClaims.filter(
    ({ metadata, status }) =>
      !metadata.deletionTimestamp && byName.get(metadata.name)?.terminating === undefined && !isTrue(status?.conditions, "Initialized"),
  );
  return waiting.map((claim) => overviewOf(claim, byName.get(claim.metadata.name), times)).sort((a, b) => a.createdAt - b.createdAt);
}

function overviewOf(claim: NodeClaim, record: NodeClaimRecord | undefined, times: readonly StepTime[]): ClaimOverview {
  const { metadata, status } = claim;
  const { labels = {} } = metadata;
  const created = metadata.creationTimestamp === undefined ? (record?.createdAt ?? Number.NaN) : createdAt(claim);
  const { step, since } = stepOf(claim, record, created);
  const left = { planned: 3, created: 3, launched: 2, registered: 1 }[step];
  const known = times.slice(-left);
  const problem =
    record?.refused?.message ??
    status?.conditions?.find((one) => one.status === "False" && (one.message ?? "") !== "" && one.type !== "Ready")?.message;
  return {
    ...{ name: metadata.name, nodePool: labels[NODE_POOL] ?? record?.nodePool ?? "", step, since, createdAt: created },
    instanceType: labels[INSTANCE_TYPE] ?? record?.instance?.instanceType ?? "",
    capacityType: labels[CAPACITY_TYPE] ?? record?.instance?.capacityType ?? "",
    zone: labels[ZONE] ?? record?.instance?.zone ?? "",
    pods: record?.podUids.length ?? 0,
    ...(known.length === left && { usualMs: known.reduce((sum, { medianMs }) => sum + medianMs, 0) }),
    ...(problem !== undefined && { problem }),
  };
}

function stepOf(claim: NodeClaim, record: NodeClaimRecord | undefined, created: number): { step: ClaimStep; since: number } {
  const registered = timeOf(claim, "Registered");
  if (Number.isFinite(registered)) return { step: "registered", since: registered };
  const launched = Number.isFinite(timeOf(claim, "Launched")) ? timeOf(claim, "Launched") : (record?.launchedAt ?? Number.NaN);
  if (Number.isFinite(launched)) return { step: "launched", since: launched };
  const isPlanned = isIntended(claim) && claim.metadata.creationTimestamp === undefined;
  return { step: isPlanned ? "planned" : "created", since: created };
}

/** When a condition became true, ms; NaN while it has not. */
function timeOf({ status }: NodeClaim, type: string): number {
  const condition = conditionOf(status?.conditions, type);
  return condition?.status === "True" ? fromRfc3339(condition.lastTransitionTime) : Number.NaN;
}

const createdAt = ({ metadata }: NodeClaim): number => fromRfc3339(metadata.creationTimestamp);
