import { ownValue } from "../lib/own-value.ts";

/**
 * Why a function is woken: one row for each cause, by the queue that carries the wake-up.
 *
 * In: a cause and, where its words need one, a detail. Out: the text of `reason` in log lines, and what the cause means
 * for the function that is woken. No code may read a meaning out of the text: a NodePool may have any name. A new cause
 * is one row here; the types of its row ask for every answer, and a WakeUp cannot name a cause without a row.
 */

/** A cause that has a provisioning plan made. */
interface ProvisionCause {
  /** The text of `reason` in log lines and in the message on the queue. */
  readonly words: (detail: string) => string;
}

/** A cause that has a disruption pass made. */
interface DisruptionCause {
  readonly words: (detail: string) => string;
}

/** A cause that has NodeClasses and NodePools looked after. */
interface CatalogCause {
  readonly words: (detail: string) => string;
}

export const WAKE_UP_CAUSES = {
  provision: {
    /** kube-scheduler gave pods up; the detail is their number. */
    PodsUnschedulable: { words: (pods: string) => `${pods} pod(s) unschedulable` },
    /** The batching window was still open when a plan was about to be made. */
    PodsComing: { words: () => "pods are coming" },
    /** Another decision held the cluster's lease; the detail is the text of the first cause, however often. */
    PlanPutOff: { words: (reason: string) => `${reason}; another decision was under way` },
    ReplicasPutOff: { words: () => "replicas wait for another decision" },
    AuditUnreadable: { words: () => "audit delivery could not be read" },
    /** The detail is resource/namespace/name of a CapacityBuffer or a PodTemplate. */
    BufferChanged: { words: (name: string) => `${name} changed` },
    BufferRoomTaken: { words: () => "room of CapacityBuffers is taken" },
    NodeClassReady: { words: (name: string) => `EC2NodeClass ${name} is ready` },
    NodeClassChanged: { words: (name: string) => `EC2NodeClass ${name} changed` },
    NodePoolReady: { words: (name: string) => `NodePool ${name} is ready` },
    NodePoolChanged: { words: (name: string) => `NodePool ${name} changed` },
    NodeOverlayChanged: { words: (name: string) => `NodeOverlay ${name} changed` },
    /** The pods of a NodeClaim need another node; the detail is why the NodeClaim is terminated, and its name. */
    NodeClaimTerminating: { words: (reasonAndName: string) => reasonAndName },
    /** kube-scheduler can be given the name of a node that pods were planned for. */
    NodeRegistered: { words: (claim: string) => `${claim} is registered` },
    /** A node takes pods now: pods that were meant for it and found no room there need another one. */
    NodeInitialized: { words: (claim: string) => `${claim} is initialized` },
    /** A NodeClaim no longer counts towards the limits of its NodePool. */
    NodeClaimRemoved: { words: (claim: string) => `${claim} is removed` },
    /** An earlier plan left pods while NodeClaims were on their way. */
    PodsWaiting: { words: () => "pods still wait" },
    Sweep: { words: () => "sweep" },
    /** A message of another version of this product, whose text is all that is known. */
    Unknown: { words: (reason: string) => reason },
  },
  disruption: {
    PodsMoved: { words: () => "pods came or went" },
    NodesRemoved: { words: () => "nodes went" },
    /** A replacement is initialized; the detail is its NodeClaim's name. */
    ReplacementReady: { words: (claim: string) => `${claim} is up` },
    /** The detail is the kind and name of a NodePool, EC2NodeClass or NodeOverlay. */
    DefinitionChanged: { words: (name: string) => `${name} changed` },
    /** A time that an earlier pass asked for has come. */
    Due: { words: () => "due" },
    /** Another decision held the cluster's lease. */
    PutOff: { words: () => "another decision was under way" },
    Sweep: { words: () => "sweep" },
    Unknown: { words: (reason: string) => reason },
  },
  catalog: {
    /** The detail is resource/name of a NodePool, EC2NodeClass or NodeOverlay. */
    ObjectChanged: { words: (name: string) => `${name} changed` },
    /** The detail is the name of an EC2NodeClass. */
    LookupFailed: { words: (name: string) => `a lookup for EC2NodeClass ${name} failed` },
    Sweep: { words: () => "sweep" },
    Unknown: { words: (reason: string) => reason },
  },
} as const satisfies {
  readonly provision: Readonly<Record<string, ProvisionCause>>;
  readonly disruption: Readonly<Record<string, DisruptionCause>>;
  readonly catalog: Readonly<Record<string, CatalogCause>>;
};

type Causes = typeof WAKE_UP_CAUSES;

/** The queues whose wake-ups have a cause; a wake-up for one NodeClaim needs none. */
export type CauseKind = keyof Causes;

/** A cause and, exactly when its words need one, its detail: `{ cause: "NodePoolReady", detail: "default" }`. */
export type WakeUpReason<K extends CauseKind = CauseKind> = {
  [Q in K]: {
    [C in keyof Causes[Q]]: Causes[Q][C] extends { readonly words: () => string }
      ? { readonly cause: C; readonly detail?: never }
      : { readonly cause: C; readonly detail: string };
  }[keyof Causes[Q]];
}[K];

/** The text of `reason` for log lines. */
export function reasonText<K extends CauseKind>(kind: K, { cause, detail = "" }: WakeUpReason<K>): string {
  const rows: Readonly<Record<string, CatalogCause>> = WAKE_UP_CAUSES[kind];
  return ownValue(rows, String(cause))?.words(detail) ?? "";
}

/** The reason under which a plan is asked for again because another decision was under way. The text says so once. */
export function putOff(reason: WakeUpReason<"provision">): WakeUpReason<"provision"> {
  return reason.cause === "PlanPutOff" ? reason : { cause: "PlanPutOff", detail: reasonText("provision", reason) };
}
