import type { CapacityBuffer, PodTemplateObject } from "#core/model/capacity-buffer.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import type { HistoryEntry } from "#core/model/history-entry.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { Pod } from "#core/model/pod.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import type { Lab } from "#lab/host.ts";
import type { PortCall } from "#lab/world/intercept.ts";
import type { SimulatedInstance } from "#lab/world/simulated-instance.ts";
import type { Change } from "#lab/world/store.ts";
import type { Injector } from "../faults/injector.ts";
import { CLUSTER, isOrdinary } from "./facts.ts";
import type { History } from "./history.ts";

/** What invariants read: EC2, the API server and the table themselves, never through the product. */
export interface Scene {
  readonly lab: Lab;
  /** The table without the hooks of the faults. */
  readonly table: NodeClaimStore;
  readonly faults: Pick<Injector, "hits" | "counts" | "isStormy" | "tableLostAt" | "recordsLostAt">;
  readonly history: History;
  /** Whether all code of the run writes the history of decisions. */
  readonly keepsHistory: boolean;
  /** Whether all code of the run keeps nodes that other commands move pods to. */
  readonly keepsDestinations: boolean;
}

/** The whole state, read at one moment, without odd objects. */
export interface Sight {
  /** ms since the epoch. */
  readonly now: number;
  readonly records: readonly NodeClaimRecord[];
  readonly commands: readonly CommandRecord[];
  readonly claims: readonly NodeClaim[];
  readonly nodes: readonly Node[];
  readonly pools: readonly NodePool[];
  readonly pods: readonly Pod[];
  /** None where the feature gate is off. */
  readonly buffers: readonly CapacityBuffer[];
  readonly podTemplates: readonly PodTemplateObject[];
  /** All instances that EC2 still lists, terminated ones included. */
  readonly machines: readonly SimulatedInstance[];
}

/** Callbacks of an invariant. Each may call `violated`, then or later. */
export interface Watcher {
  /** After each write to the API server. */
  onChange?(change: Change): void;
  /** After EC2 has launched an instance. */
  onLaunch?(machine: SimulatedInstance): void;
  /** Before the effect of a remote call of the product. */
  onCall?(call: PortCall): void | Promise<void>;
  /** After the effect of a call, whether or not the caller receives the answer. */
  onResult?(call: PortCall, result: unknown): void;
  /** Every `CHECK_MS` of virtual time. */
  check?(sight: Sight): void;
  /**
   * Once, after the faults have ended and the world is at rest or has failed to come to rest. `told`: what the table's
   * history says.
   */
  atEnd?(sight: Sight, told: readonly HistoryEntry[]): void;
}

/** A rule that no fault may break. */
export interface Law {
  readonly name: string;
  /** One sentence. */
  readonly law: string;
}

export interface Invariant extends Law {
  watch(scene: Scene, violated: (detail: string) => void): Watcher;
}

/** Virtual time between two checks of the whole state, ms. */
export const CHECK_MS = 30_000;

/**
 * Reads the whole state of a cluster at one moment: nothing is awaited between the reads of the API server and of EC2.
 */
export async function look({ lab, table }: Scene, world = lab.world): Promise<Sight> {
  const { cloud } = lab;
  const listed = <T>(kind: string): readonly T[] => world.store.list(kind) as unknown as readonly T[];
  const records = table.list(world.cluster);
  const commands = table.commands(world.cluster);
  return {
    now: world.clock.now(),
    claims: listed<NodeClaim>("NodeClaim"),
    nodes: listed<Node>("Node").filter(isOrdinary),
    pools: listed<NodePool>("NodePool").filter(isOrdinary),
    pods: listed<Pod>("Pod"),
    buffers: listed<CapacityBuffer>("CapacityBuffer"),
    podTemplates: listed<PodTemplateObject>("PodTemplate"),
    machines: cloud.machines().filter(({ instance }) => instance.tags[CLUSTER] === world.cluster),
    records: await records,
    commands: await commands,
  };
}
