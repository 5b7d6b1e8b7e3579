import { type CommandRecord, disruptingClaims } from "../../model/command-record.ts";
import type { NodeClaim } from "../../model/node-claim.ts";
import type { NodeClaimRecord } from "../../model/node-claim-record.ts";
import type { NodePool } from "../../model/node-pool.ts";
import type { Pod } from "../../model/pod.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import type { PodDisruptionBudget } from "../../model/workloads.ts";
import { type NodeView, nodeViews } from "../../scheduling/problem/node-view.ts";
import { type BufferRoom, bufferRoom } from "./buffer-room.ts";
import type { Simulate } from "./simulation.ts";

/** A NodeClaim with its node, if it has one, and what runs there. */
export interface Machine extends NodeView {
  readonly claim: NodeClaim;
  readonly record: NodeClaimRecord | undefined;
  readonly pods: readonly Pod[];
}

/** A snapshot, indexed for questions about disruption. */
export interface ClusterView {
  readonly now: number;
  readonly snapshot: Snapshot;
  /** By NodeClaim, those that have a machine: without a provider id there is none yet. */
  readonly machines: ReadonlyMap<string, Machine>;
  readonly claims: ReadonlyMap<string, NodeClaim>;
  readonly records: ReadonlyMap<string, NodeClaimRecord>;
  readonly nodePools: ReadonlyMap<string, NodePool>;
  /** By namespace. */
  readonly pdbs: ReadonlyMap<string, readonly PodDisruptionBudget[]>;
  /** NodeClaims of commands under way. */
  readonly inCommand: ReadonlySet<string>;
  /** Node name to the time (ms) until which a pod is expected there. */
  readonly nominatedUntil: ReadonlyMap<string, number>;
  /** Room that CapacityBuffers want; worked out when first asked for. */
  readonly bufferRoom: () => BufferRoom;
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** Indexes a snapshot. What is marked for deletion follows from the commands and records given, whatever the snapshot says. */
export function viewCluster(input: {
  readonly snapshot: Snapshot;
  readonly records: readonly NodeClaimRecord[];
  readonly commands: readonly CommandRecord[];
  readonly now: number;
  readonly nominatedUntil?: ReadonlyMap<string, number>;
  /** Without it no node is known to hold room for CapacityBuffers. */
  readonly simulate?: Simulate;
}): ClusterView {
  const { records, commands, now } = input;
  // A record hears first that a claim shall go; its custom resource follows.
  const going = records.flatMap(({ name, terminating }) => (terminating ? [name] : []));
  const snapshot = { ...input.snapshot, now, disrupting: new Set([...disruptingClaims(commands), ...going]) };
  let held: BufferRoom | undefined;
  const recordByName = new Map(records.map((record) => [record.name, record]));
  const podsByNode = groupBy(snapshot.pods, (pod) => pod.spec.nodeName ?? "");
  const machines = new Map<string, Machine>();
  for (const view of nodeViews(snapshot)) {
    if (view.claim === undefined) continue;
    const { name } = view.claim.metadata;
    const record = recordByName.get(name);
    const pods = view.node ? (podsByNode.get(view.node.metadata.name) ?? []) : [];
    machines.set(name, { ...view, claim: view.claim, record, pods });
  }
  return {
    now,
    snapshot,
    machines,
    claims: new Map(snapshot.nodeClaims.map((claim) => [claim.metadata.name, claim])),
    records: recordByName,
    nodePools: new Map(snapshot.nodePools.map((pool) => [pool.metadata.name, pool])),
    pdbs: groupBy(snapshot.podDisruptionBudgets, ({ metadata }) => metadata.namespace ?? "default"),
    inCommand: new Set(commands.flatMap(({ candidates }) => candidates.map(({ nodeClaim }) => nodeClaim))),
    nominatedUntil: input.nominatedUntil ?? new Map(),
    bufferRoom: () => {
      held ??= bufferRoom(snapshot, input.simulate);
      return held;
    },
  };
}

/** PodDisruptionBudgets that could cover a pod. */
export function pdbsFor(view: ClusterView, pod: Pod): readonly PodDisruptionBudget[] {
  return view.pdbs.get(pod.metadata.namespace ?? "default") ?? [];
}
