import type { CommandRecord } from "../../model/command-record.ts";
import { rfc3339 } from "../../model/conditions.ts";
import { INSTANCE_TYPE, NODE_POOL } from "../../model/labels.ts";
import type { Node } from "../../model/node.ts";
import type { NodeClaim } from "../../model/node-claim.ts";
import type { ClaimReason } from "../../model/node-claim-record.ts";
import type { NodePool } from "../../model/node-pool.ts";
import type { PlannedNodeClaim } from "../../model/plan.ts";
import type { Pod } from "../../model/pod.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { isReschedulable, podKey, podUid } from "../../pods/predicates.ts";
import { unusedNames } from "../../provisioning/claim-name.ts";
import { withInFlight } from "../../provisioning/in-flight.ts";
import { intentFor } from "../../provisioning/intent.ts";
import { NOMINATION_MS } from "../../provisioning/nominations.ts";
import { departureOf } from "./drain-time.ts";
import { newMachine, purchaseOf, upAndRunning } from "./machine.ts";

/** From the decision for a node until it is initialized, ms. An assumption for a typical EC2 instance. */
export const UP_MS = 60_000;

/** The launch of a NodeClaim that is under way. */
export interface Coming {
  /** When its node is initialized, ms since the epoch. */
  readonly at: number;
  /** Names of the instance types that it may become. */
  readonly types: readonly string[];
}

/**
 * A simulated cluster: its state at `snapshot.now`, and the launches, drains and commands under way. `stageOf`
 * (start.ts) makes the first one from a snapshot. A stage is immutable; each function here returns the next one.
 *
 *     const { stage, names } = buy(stageOf(snapshot), [{ planned, id: "1", reason: "provisioned" }]);
 *     arrive(at(stage, snapshot.now + UP_MS)).snapshot.nodes; // with the new node
 */
export interface Stage {
  readonly snapshot: Snapshot;
  /** Commands under way. */
  readonly commands: readonly CommandRecord[];
  /** Launches under way, by NodeClaim name. */
  readonly coming: ReadonlyMap<string, Coming>;
  /**
   * Drains under way: NodeClaim name to when its node is removed, ms since the epoch; Infinity when the drain never
   * ends.
   */
  readonly leaving: ReadonlyMap<string, number>;
  /** Node name to the time (ms since the epoch) until which pods are expected there. */
  readonly nominatedUntil: ReadonlyMap<string, number>;
  /** How many times a pod had to leave its node so far. */
  readonly podsMoved: number;
}

/** The stage at a later time (ms since the epoch). */
export function at(stage: Stage, now: number): Stage {
  return { ...stage, snapshot: { ...stage.snapshot, now } };
}

/**
 * Initializes the nodes that are due. A claim without an available offering is removed, and its pods are planned again.
 */
export function arrive(stage: Stage): Stage {
  const { snapshot } = stage;
  const due = [...stage.coming].filter(([, coming]) => coming.at <= snapshot.now);
  if (due.length === 0) return stage;
  const claims = new Map(snapshot.nodeClaims.map((claim) => [claim.metadata.name, claim]));
  const nodes = new Map(snapshot.nodes.map((node) => [node.spec.providerID ?? node.metadata.name, node]));
  const nominatedUntil = new Map(stage.nominatedUntil);
  for (const [name, { types }] of due) {
    const claim = claims.get(name);
    if (claim === undefined) continue;
    const pair = broughtUp(claim, nodes.get(claim.status?.providerID ?? ""), types, snapshot);
    if (pair === undefined) claims.delete(name);
    else {
      claims.set(name, pair.claim);
      nodes.set(pair.node.spec.providerID ?? name, pair.node);
      nominatedUntil.set(pair.node.metadata.name, snapshot.now + NOMINATION_MS);
    }
  }
  const arrived = new Set(due.map(([name]) => name));
  return {
    ...stage,
    coming: new Map([...stage.coming].filter(([name]) => !arrived.has(name))),
    nominatedUntil,
    snapshot: {
      ...snapshot,
      nodes: [...nodes.values()],
      nodeClaims: [...claims.values()],
      nominated: new Map([...snapshot.nominated].filter(([, claim]) => !arrived.has(claim))),
    },
  };
}

/** Claim and node once initialized; undefined without an available offering. */
function broughtUp(claim: NodeClaim, node: Node | undefined, types: readonly string[], { instanceTypes, now }: Snapshot) {
  if (node !== undefined) return upAndRunning(claim, node, now);
  const purchase = purchaseOf(claim, types, instanceTypes.get(claim.metadata.labels?.[NODE_POOL] ?? "") ?? []);
  return purchase && newMachine(claim, purchase, now);
}

/** Removes the nodes whose drain has ended; their reschedulable pods become pending. */
export function leave(stage: Stage): Stage {
  const { snapshot } = stage;
  const removed = new Set([...stage.leaving].flatMap(([name, when]) => (when <= snapshot.now ? [name] : [])));
  if (removed.size === 0) return stage;
  const providers = new Set(
    snapshot.nodeClaims.flatMap(({ metadata, status }) => (removed.has(metadata.name) && status?.providerID ? [status.providerID] : [])),
  );
  const isRemoved = (node: Node): boolean => providers.has(node.spec.providerID ?? "");
  const nodes = new Set(snapshot.nodes.filter(isRemoved).map(({ metadata }) => metadata.name));
  const isThere = ({ spec }: Pod): boolean => nodes.has(spec.nodeName ?? "");
  const moving = snapshot.pods.filter((pod) => isThere(pod) && isReschedulable(pod)).map(evicted);
  return {
    ...stage,
    leaving: new Map([...stage.leaving].filter(([name]) => !removed.has(name))),
    coming: new Map([...stage.coming].filter(([name]) => !removed.has(name))),
    podsMoved: stage.podsMoved + moving.length,
    snapshot: {
      ...snapshot,
      nodes: snapshot.nodes.filter((node) => !isRemoved(node)),
      nodeClaims: snapshot.nodeClaims.filter(({ metadata }) => !removed.has(metadata.name)),
      pods: [...snapshot.pods.filter((pod) => !isThere(pod)), ...moving],
      nominated: new Map([...snapshot.nominated].filter(([, claim]) => !removed.has(claim))),
    },
  };
}

/** The pending pod that the owner creates for an evicted one. */
function evicted(pod: Pod): Pod {
  const { nodeName: _, ...spec } = pod.spec;
  const { deletionTimestamp: __, ...metadata } = pod.metadata;
  const waiting = { type: "PodScheduled", status: "False", reason: "Unschedulable" } as const;
  return { ...pod, metadata, spec, status: { phase: "Pending", conditions: [waiting] } };
}

/** Binds pods to initialized nodes, by "namespace/name" to node name; these nodes have a pod event now. */
export function bind(stage: Stage, nodeOf: ReadonlyMap<string, string>): Stage {
  if (nodeOf.size === 0) return stage;
  const { snapshot } = stage;
  const taken = new Set(nodeOf.values());
  const providers = new Set(snapshot.nodes.flatMap(({ metadata, spec }) => (taken.has(metadata.name) ? [spec.providerID ?? ""] : [])));
  const pods = snapshot.pods.map((pod): Pod => {
    const nodeName = pod.spec.nodeName ? undefined : nodeOf.get(podKey(pod));
    return nodeName === undefined ? pod : { ...pod, spec: { ...pod.spec, nodeName }, status: { phase: "Running" } };
  });
  const nodeClaims = snapshot.nodeClaims.map((claim) =>
    providers.has(claim.status?.providerID ?? "")
      ? { ...claim, status: { ...claim.status, lastPodEventTime: rfc3339(snapshot.now) } }
      : claim,
  );
  return { ...stage, snapshot: { ...snapshot, pods, nodeClaims } };
}

/** A NodeClaim to create; its name follows from `id` unless set. */
export interface Order {
  readonly planned: PlannedNodeClaim;
  readonly id: string;
  readonly name?: string;
  readonly reason: ClaimReason;
}

/**
 * Creates NodeClaims; the pods that they are for are nominated to them and not planned again until the nodes are
 * initialized.
 */
export function buy(stage: Stage, orders: readonly Order[]): { readonly stage: Stage; readonly names: readonly string[] } {
  const { snapshot } = stage;
  const pools = new Map(snapshot.nodePools.map((pool) => [pool.metadata.name, pool]));
  const uids = new Map([...(snapshot.virtualPods ?? []), ...snapshot.pods].map((pod) => [podKey(pod), podUid(pod)]));
  const nameOf = unusedNames(snapshot.nodeClaims.map(({ metadata }) => metadata.name));
  const records = orders.flatMap(({ planned, id, name = nameOf(planned.nodePool, id), reason }) => {
    const pool: NodePool | undefined = pools.get(planned.nodePool);
    const podUids = planned.pods.flatMap((pod) => uids.get(pod) ?? []);
    return pool ? [intentFor(planned, pool, { cluster: "what-if", now: snapshot.now, podUids, id, name, reason })] : [];
  });
  const nominated = new Map(snapshot.nominated);
  for (const { name, podUids } of records) for (const uid of podUids) if (!nominated.has(uid)) nominated.set(uid, name);
  const coming = new Map(stage.coming);
  for (const { name, instanceTypes } of records) coming.set(name, { at: snapshot.now + UP_MS, types: instanceTypes });
  return {
    stage: { ...stage, coming, snapshot: withInFlight({ ...snapshot, nominated }, records) },
    names: records.map(({ name }) => name),
  };
}

/** Deletes a NodeClaim, as a user or a command does: its drain begins. */
export function remove(stage: Stage, name: string): Stage {
  const { snapshot } = stage;
  const claim = snapshot.nodeClaims.find(({ metadata }) => metadata.name === name);
  if (claim === undefined || stage.leaving.has(name)) return stage;
  const deleted = { ...claim, metadata: { ...claim.metadata, deletionTimestamp: rfc3339(snapshot.now) } };
  return {
    ...stage,
    leaving: new Map([...stage.leaving, [name, departureOf(claim, snapshot)]]),
    snapshot: { ...snapshot, nodeClaims: snapshot.nodeClaims.map((one) => (one === claim ? deleted : one)) },
  };
}

/**
 * Names of the instance types that a claim may become: its own label where it has one, otherwise those of its
 * requirements.
 */
export function typesOfClaim(claim: NodeClaim): readonly string[] {
  const own = claim.metadata.labels?.[INSTANCE_TYPE];
  if (own !== undefined) return [own];
  return claim.spec.requirements.flatMap(({ key, operator, values }) => (key === INSTANCE_TYPE && operator === "In" ? (values ?? []) : []));
}
