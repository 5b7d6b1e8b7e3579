// Which pass a wake-up or a sweep asks for, and whether the pass is needed. In: the cause, what the process remembers,
// and what was read so far. Out: a verdict: run, skip, wait until a time, or what to read next (verdict.ts). Way:
// causes.ts has a row for each cause; check-pending.ts and idle-state.ts decide for provisioning, check-disruption.ts
// for disruption. Must not know: clocks, clients, queues, how a plan is made.

import type { WakeUpReason } from "../ports/wake-up-causes.ts";

interface ProvisionRow {
  /**
   * What is checked before the whole cluster is read: "pending": pods that wait for a node; "node": the same for one
   * node that has registered; "idle": whether any pod is unbound or any node leaves.
   */
  readonly check: "pending" | "node" | "idle";
  /** No change of a definition has the cause: the pass may use definitions that were read a moment ago. */
  readonly usesKnownDefinitions: boolean;
}

const OF_PODS = { check: "pending", usesKnownDefinitions: true } as const;
const OF_DEFINITIONS = { check: "pending", usesKnownDefinitions: false } as const;

/** The causes of a pass of provisioning. */
export const PROVISION_CAUSES: Readonly<Record<WakeUpReason<"provision">["cause"], ProvisionRow>> = {
  PodsUnschedulable: OF_PODS,
  PodsComing: OF_PODS,
  PodsWaiting: OF_PODS,
  NodeClaimTerminating: OF_PODS,
  NodeInitialized: OF_PODS,
  NodeClaimRemoved: OF_PODS,
  NodeRegistered: { check: "node", usesKnownDefinitions: true },
  PlanPutOff: OF_DEFINITIONS,
  ReplicasPutOff: OF_DEFINITIONS,
  AuditUnreadable: OF_DEFINITIONS,
  BufferChanged: OF_DEFINITIONS,
  BufferRoomTaken: OF_DEFINITIONS,
  NodeClassReady: OF_DEFINITIONS,
  NodeClassChanged: OF_DEFINITIONS,
  NodePoolReady: OF_DEFINITIONS,
  NodePoolChanged: OF_DEFINITIONS,
  NodeOverlayChanged: OF_DEFINITIONS,
  Unknown: OF_DEFINITIONS,
  Sweep: { check: "idle", usesKnownDefinitions: false },
};

interface DisruptionRow {
  /** Many such wake-ups are sent within seconds: one pass serves all of them, SETTLE_MS after the first. */
  readonly swarms: boolean;
  readonly usesKnownDefinitions: boolean;
}

/** The causes of a disruption pass. */
export const DISRUPTION_CAUSES: Readonly<Record<WakeUpReason<"disruption">["cause"], DisruptionRow>> = {
  PodsMoved: { swarms: true, usesKnownDefinitions: true },
  NodesRemoved: { swarms: true, usesKnownDefinitions: true },
  ReplacementReady: { swarms: false, usesKnownDefinitions: true },
  Due: { swarms: false, usesKnownDefinitions: true },
  DefinitionChanged: { swarms: false, usesKnownDefinitions: false },
  PutOff: { swarms: false, usesKnownDefinitions: false },
  Sweep: { swarms: false, usesKnownDefinitions: false },
  Unknown: { swarms: false, usesKnownDefinitions: false },
};
