// The cluster as disruption sees it. In come a snapshot, records and commands; out come indexes, candidates with the
// reasons of the blocked nodes, and budgets. Methods, commands and reports are not known here.

import { type CommandRecord, destinationClaims, disruptingClaims } from "../../model/command-record.ts";
import type { NodeClaim } from "../../model/node-claim.ts";
import type { NodeClaimRecord } from "../../model/node-claim-record.ts";
import type { NodePool } from "../../model/node-pool.ts";
import type { Pod } from "../../model/pod.ts";
import { type CostSettings, costSettingsOf } from "../../model/prices.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import type { PodDisruptionBudget } from "../../model/workloads.ts";
import { type NodeView, nodeViews } from "../../scheduling/problem/node-view.ts";
import type { DisruptionSettings } from "../settings.ts";
import { type BufferRoom, bufferRoom } from "./buffer-room.ts";
import type { Simulate } from "./simulation.ts";

/** A NodeClaim that has an instance, with its node if it has joined, and the pods there. */
export interface StateNode extends NodeView {
  readonly claim: NodeClaim;
  /** Undefined for a snapshot file, which has no records. */
  readonly record: NodeClaimRecord | undefined;
  readonly pods: readonly Pod[];
}

/**
 * A snapshot, indexed for decisions about disruption. `viewCluster` makes one at the start of each pass, and one
 * without the command itself when a command is validated; rules, methods and reports only read it. Machines are looked
 * up by NodeClaim name.
 *
 *     const view = viewCluster({ snapshot, records, commands, now, simulate });
 *     view.machines.get("default-x7k2p")?.pods;
 */
export interface ClusterView {
  readonly now: number;
  readonly snapshot: Snapshot;
  /** By NodeClaim name, those that have a provider id: without it there is no instance yet. */
  readonly machines: ReadonlyMap<string, StateNode>;
  /** By name, also those without an instance. */
  readonly claims: ReadonlyMap<string, NodeClaim>;
  readonly records: ReadonlyMap<string, NodeClaimRecord>;
  readonly nodePools: ReadonlyMap<string, NodePool>;
  /** By namespace. */
  readonly pdbs: ReadonlyMap<string, readonly PodDisruptionBudget[]>;
  /** Names of the NodeClaims that commands under way disrupt. */
  readonly inCommand: ReadonlySet<string>;
  /** Names of the NodeClaims that commands under way move pods to. */
  readonly destinations: ReadonlySet<string>;
  /** Node name to the time (ms) until which pods are expected there. */
  readonly nominatedUntil: ReadonlyMap<string, number>;
  /** What nodes cost their owner beside their instances. */
  readonly costs: CostSettings;
  /** Pods that started later (ms since the epoch) started within the payback horizon; Infinity without a horizon. */
  readonly recentFrom: number;
  /** The capacity of CapacityBuffers; simulated on the first call. */
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

/**
 * Indexes a snapshot. The given commands and records decide which claims are being removed; `snapshot.disrupting` is
 * ignored.
 */
export function viewCluster(input: {
  readonly snapshot: Snapshot;
  readonly records: readonly NodeClaimRecord[];
  readonly commands: readonly CommandRecord[];
  readonly now: number;
  readonly nominatedUntil?: ReadonlyMap<string, number>;
  /** Without them the defaults hold. */
  readonly settings?: CostSettings & Pick<DisruptionSettings, "horizonMs">;
  /** Without it no capacity of CapacityBuffers is known. */
  readonly simulate?: Simulate;
}): ClusterView {
  const { records, commands, now } = input;
  // The record of a claim is marked as terminating before its custom resource is deleted.
  const terminating = records.flatMap(({ name, terminating: isTerminating }) => (isTerminating ? [name] : []));
  const snapshot = { ...input.snapshot, now, disrupting: new Set([...disruptingClaims(commands), ...terminating]) };
  let room: BufferRoom | undefined;
  const recordByName = new Map(records.map((record) => [record.name, record]));
  const podsByNode = groupBy(snapshot.pods, (pod) => pod.spec.nodeName ?? "");
  const machines = new Map<string, StateNode>();
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
    destinations: destinationClaims(commands),
    nominatedUntil: input.nominatedUntil ?? new Map(),
    costs: costSettingsOf(input.settings ?? {}),
    recentFrom: now - (input.settings?.horizonMs ?? Number.NEGATIVE_INFINITY),
    bufferRoom: () => {
      room ??= bufferRoom(snapshot, input.simulate);
      return room;
    },
  };
}

/** The PodDisruptionBudgets of the pod's namespace. */
export function pdbsFor(view: ClusterView, pod: Pod): readonly PodDisruptionBudget[] {
  return view.pdbs.get(pod.metadata.namespace ?? "default") ?? [];
}
