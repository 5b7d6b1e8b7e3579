import type { CommandRecord } from "../../model/command-record.ts";
import type { NodeClaimRecord } from "../../model/node-claim-record.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import type { MakeTrial } from "../../scheduling/make-trial.ts";
import type { Simulate } from "../cluster/simulation.ts";
import type { CircuitBreaker } from "../limits/circuit-breaker.ts";
import type { RateInput } from "../limits/counted.ts";
import type { DisruptionSettings } from "../settings.ts";
import type { Method } from "./decision.ts";
import type { ExpectedSavings } from "./expected-savings.ts";

/** What a pass of disruption, and a step of a command, are decided from. */
export interface DecisionInput {
  readonly snapshot: Snapshot;
  readonly records: readonly NodeClaimRecord[];
  /** All commands under way. */
  readonly commands: readonly CommandRecord[];
  readonly settings: DisruptionSettings;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly simulate: Simulate;
  /** Node name to the time (ms since the epoch) until which pods are expected there: 20 s from its initialization. */
  readonly nominatedUntil?: ReadonlyMap<string, number>;
  /** The window of the cluster's disruption rate; absent without one. */
  readonly rate?: RateInput;
  /** Absent where no pods are compared with before. */
  readonly breaker?: CircuitBreaker;
}

/**
 * What one pass of disruption is decided from. Snapshot, records and commands are read together, because a snapshot
 * older than the commands could show their candidates as free.
 *
 *     const tools = { simulate: simulateWithSolve, makeTrial: makeConsolidationTrial, newId: randomUUID };
 *     planDisruption({ snapshot, records, commands, settings, now, ...tools });
 */
export interface DisruptionInput extends DecisionInput {
  /**
   * Makes the trial cluster on which sets of nodes are searched. When undefined, nodes are chosen in Karpenter's way,
   * by simulations alone.
   */
  readonly makeTrial: MakeTrial | undefined;
  /** Id of a new command. */
  readonly newId: () => string;
  /** Asked between simulations: true ends the method's search with the best set so far. */
  readonly outOfTime?: (method: Method) => boolean;
  /** What the last consolidation was to save, if there was one. */
  readonly expected?: ExpectedSavings;
  /** NodePools that SingleNodeConsolidation had no time for in the last pass (DisruptionPlan.unseenPools). */
  readonly unseenPools?: readonly string[];
}
