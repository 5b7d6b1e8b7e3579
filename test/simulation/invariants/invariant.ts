import type { CommandRecord } from "../../../core/model/command-record.ts";
import type { Node } from "../../../core/model/node.ts";
import type { NodeClaim } from "../../../core/model/node-claim.ts";
import type { NodeClaimRecord } from "../../../core/model/node-claim-record.ts";
import type { NodePool } from "../../../core/model/node-pool.ts";
import type { Pod } from "../../../core/model/pod.ts";
import type { NodeClaimStore } from "../../../core/ports/node-claim-store.ts";
import type { Lab } from "../../../lab/host.ts";
import type { PortCall } from "../../../lab/world/intercept.ts";
import type { SimulatedInstance } from "../../../lab/world/simulated-instance.ts";
import type { Change } from "../../../lab/world/store.ts";
import type { Injector } from "../faults/injector.ts";

/** Where invariants look: at EC2, at the API server and at the table themselves, never through the product. */
export interface Scene {
  readonly lab: Lab;
  /** The table as it is, past all hooks. */
  readonly table: NodeClaimStore;
  readonly faults: Pick<Injector, "hits" | "counts">;
}

/** Everything there is, read at one moment. */
export interface Sight {
  /** ms since the epoch. */
  readonly now: number;
  readonly records: readonly NodeClaimRecord[];
  readonly commands: readonly CommandRecord[];
  readonly claims: readonly NodeClaim[];
  readonly nodes: readonly Node[];
  readonly pools: readonly NodePool[];
  readonly pods: readonly Pod[];
  /** All that EC2 remembers, those that have ended too. */
  readonly machines: readonly SimulatedInstance[];
}

/** What an invariant listens to. Each may call `violated`, then or later. */
export interface Watcher {
  /** After each write to the API server. */
  onChange?(change: Change): void;
  /** After EC2 has started a machine. */
  onLaunch?(machine: SimulatedInstance): void;
  /** A call of the product's that is about to have its effect. */
  onCall?(call: PortCall): void | Promise<void>;
  /** After a call's effect, whether or not its caller will hear of it. */
  onResult?(call: PortCall, result: unknown): void;
  /** Each half minute of virtual time. */
  check?(sight: Sight): void;
  /** Once the faults are over and the world has come to rest, or has not. */
  atEnd?(sight: Sight): void;
}

/** A law of the world that no fault may break. */
export interface Law {
  readonly name: string;
  /** One sentence. */
  readonly law: string;
}

export interface Invariant extends Law {
  watch(scene: Scene, violated: (detail: string) => void): Watcher;
}

/** Everything is looked at once in so much virtual time, ms. */
export const CHECK_MS = 30_000;

/** How far clocks may be apart at most, ms (draw/faults.ts). */
export const SKEW_MS = 6_500;

/** Reads everything at one moment: nothing is awaited between the reads of the API server and EC2. */
export async function look({ lab, table }: Scene): Promise<Sight> {
  const { world, cloud } = lab;
  const listed = <T>(kind: string): readonly T[] => world.store.list(kind) as unknown as readonly T[];
  const records = table.list(world.cluster);
  const commands = table.commands(world.cluster);
  return {
    now: world.clock.now(),
    claims: listed<NodeClaim>("NodeClaim"),
    nodes: listed<Node>("Node"),
    pools: listed<NodePool>("NodePool"),
    pods: listed<Pod>("Pod"),
    machines: cloud.machines(),
    records: await records,
    commands: await commands,
  };
}
