import type { CommandRecord } from "../../model/command-record.ts";
import type { NodeClaimRecord } from "../../model/node-claim-record.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import type { MakeTrial } from "../../scheduling/make-trial.ts";
import type { Simulate } from "../cluster/simulation.ts";
import type { DisruptionSettings } from "../settings.ts";
import type { Method } from "./decision.ts";

/** What one pass of disruption is decided from. Read in one go: a snapshot older than the commands could show their candidates as free. */
export interface DisruptionInput {
  readonly snapshot: Snapshot;
  readonly records: readonly NodeClaimRecord[];
  /** All commands under way. */
  readonly commands: readonly CommandRecord[];
  readonly settings: DisruptionSettings;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly simulate: Simulate;
  /** Lays the cluster out for choosing nodes jointly; without it they are chosen in Karpenter's way. The product's own where `simulate` is. */
  readonly makeTrial?: MakeTrial;
  readonly newId: () => string;
  /** Node name to the time (ms) until which a pod is expected there (20 s from its placement). */
  readonly nominatedUntil?: ReadonlyMap<string, number>;
  /** Asked between trials: true ends the search with the best that was found. */
  readonly outOfTime?: (method: Method) => boolean;
  /** Pools that single-node consolidation had no time for in the last pass. */
  readonly unseenPools?: readonly string[];
}
