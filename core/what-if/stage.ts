import type { CommandRecord } from "../model/command-record.ts";
import { rfc3339 } from "../model/conditions.ts";
import { INSTANCE_TYPE, NODE_POOL } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { ClaimReason } from "../model/node-claim-record.ts";
import type { NodePool } from "../model/node-pool.ts";
import type { PlannedNodeClaim } from "../model/plan.ts";
import type { Pod } from "../model/pod.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { isReschedulable, podKey, podUid } from "../pods/predicates.ts";
import { withInFlight } from "../provisioning/in-flight.ts";
import { intentFor } from "../provisioning/intent.ts";
import { departureOf } from "./drain-time.ts";
import { newMachine, purchaseOf, upAndRunning } from "./machine.ts";

/** From the decision for a machine until its node takes pods; an assumption, as good machines of EC2 need it. */
export const UP_MS = 60_000;

/** A node that has just come up waits so long for the pods that it was made for (scheduling.md §12). */
const NOMINATION_MS = 20_000;

/** A machine on its way. */
export interface Coming {
  /** When its node takes pods, ms. */
  readonly at: number;
  /** Names of the types that it may become. */
  readonly types: readonly string[];
}

/** A cluster in rehearsal: as it stands at `snapshot.now`, and what has been set going. Nobody changes it; each function here gives the next one. */
export interface Stage {
  readonly snapshot: Snapshot;
  readonly commands: readonly CommandRecord[];
  /** By NodeClaim. */
  readonly coming: ReadonlyMap<string, Coming>;
  /** NodeClaim to when it has left, ms; Infinity when pods hold it for ever. */
  readonly leaving: ReadonlyMap<string, number>;
  /** Node to the time (ms) until which pods are expected there. */
  readonly nominatedUntil: ReadonlyMap<string, number>;
  /** How many pods have had to leave their node. */
  readonly podsMoved: number;
}

/** The stage at a later time (ms). */
export function at(stage: Stage, now: number): Stage {
  return { ...stage, snapshot: { ...stage.snapshot, now } };
}

/** Machines that are up by now take pods; what can no longer be bought is dropped, and its pods are planned anew. */
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

function broughtUp(claim: NodeClaim, node: Node | undefined, types: readonly string[], { instanceTypes, now }: Snapshot) {
  if (node !== undefined) return upAndRunning(claim, node, now);
  const purchase = purchaseOf(claim, types, instanceTypes.get(claim.metadata.labels?.[NODE_POOL] ?? "") ?? []);
  return purchase && newMachine(claim, purchase, now);
}

/** Machines that have been drained by now are gone; their pods wait for a place. */
export function leave(stage: Stage): Stage {
  const { snapshot } = stage;
  const gone = new Set([...stage.leaving].flatMap(([name, when]) => (when <= snapshot.now ? [name] : [])));
  if (gone.size === 0) return stage;
  const providers = new Set(
    snapshot.nodeClaims.flatMap(({ metadata, status }) => (gone.has(metadata.name) && status?.providerID ? [status.providerID] : [])),
  );
  const isGone = (node: Node): boolean => providers.has(node.spec.providerID ?? "");
  const nodes = new Set(snapshot.nodes.filter(isGone).map(({ metadata }) => metadata.name));
  const isThere = ({ spec }: Pod): boolean => nodes.has(spec.nodeName ?? "");
  const moving = snapshot.pods.filter((pod) => isThere(pod) && isReschedulable(pod)).map(evicted);
  return {
    ...stage,
    leaving: new Map([...stage.leaving].filter(([name]) => !gone.has(name))),
    coming: new Map([...stage.coming].filter(([name]) => !gone.has(name))),
    podsMoved: stage.podsMoved + moving.length,
    snapshot: {
      ...snapshot,
      nodes: snapshot.nodes.filter((node) => !isGone(node)),
      nodeClaims: snapshot.nodeClaims.filter(({ metadata }) => !gone.has(metadata.name)),
      pods: [...snapshot.pods.filter((pod) => !isThere(pod)), ...moving],
      nominated: new Map([...snapshot.nominated].filter(([, claim]) => !gone.has(claim))),
    },
  };
}

/** The pod that its owner makes in place of one that had to go: it waits. */
function evicted(pod: Pod): Pod {
  const { nodeName: _, ...spec } = pod.spec;
  const { deletionTimestamp: __, ...metadata } = pod.metadata;
  const waiting = { type: "PodScheduled", status: "False", reason: "Unschedulable" } as const;
  return { ...pod, metadata, spec, status: { phase: "Pending", conditions: [waiting] } };
}

/** Pods bound to nodes that are up: "namespace/name" to node name. Nodes that get pods have had a pod event. */
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

/** A claim to be bought, under its name. */
export interface Order {
  readonly planned: PlannedNodeClaim;
  readonly id: string;
  readonly name?: string;
  readonly reason: ClaimReason;
}

/** Claims set on their way; the pods that they are made for are not planned again until they are up. */
export function buy(stage: Stage, orders: readonly Order[]): { readonly stage: Stage; readonly names: readonly string[] } {
  const { snapshot } = stage;
  const pools = new Map(snapshot.nodePools.map((pool) => [pool.metadata.name, pool]));
  const uids = new Map([...(snapshot.virtualPods ?? []), ...snapshot.pods].map((pod) => [podKey(pod), podUid(pod)]));
  const records = orders.flatMap(({ planned, ...facts }) => {
    const pool: NodePool | undefined = pools.get(planned.nodePool);
    const podUids = planned.pods.flatMap((pod) => uids.get(pod) ?? []);
    return pool ? [intentFor(planned, pool, { cluster: "what-if", now: snapshot.now, podUids, ...facts })] : [];
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

/** A claim told to go, as a person's or a command's deletion does. */
export function remove(stage: Stage, name: string): Stage {
  const { snapshot } = stage;
  const claim = snapshot.nodeClaims.find(({ metadata }) => metadata.name === name);
  if (claim === undefined || stage.leaving.has(name)) return stage;
  const going = { ...claim, metadata: { ...claim.metadata, deletionTimestamp: rfc3339(snapshot.now) } };
  return {
    ...stage,
    leaving: new Map([...stage.leaving, [name, departureOf(claim, snapshot)]]),
    snapshot: { ...snapshot, nodeClaims: snapshot.nodeClaims.map((one) => (one === claim ? going : one)) },
  };
}

/** Types that a claim which is on its way may become: those that it names, or the one that it has. */
export function typesOfClaim(claim: NodeClaim): readonly string[] {
  const own = claim.metadata.labels?.[INSTANCE_TYPE];
  if (own !== undefined) return [own];
  return claim.spec.requirements.flatMap(({ key, operator, values }) => (key === INSTANCE_TYPE && operator === "In" ? (values ?? []) : []));
}
