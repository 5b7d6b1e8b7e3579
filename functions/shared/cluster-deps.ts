import type { ClusterFacts } from "../../core/launch/user-data-input.ts";
import type { TopologySpreadConstraint } from "../../core/model/pod.ts";
import type { Catalogue } from "../../core/offerings/catalogue.ts";
import type { Announcements } from "../../core/ports/announcements.ts";
import type { Fleet } from "../../core/ports/fleet.ts";
import type { Kubernetes } from "../../core/ports/kubernetes.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Metrics } from "../../core/ports/metrics.ts";
import type { NodeClaimStore } from "../../core/ports/node-claim-store.ts";
import type { WakeUps } from "../../core/ports/wake-ups.ts";

/** Karpenter's settings that decisions depend on, under their names. */
export interface Settings {
  readonly vmMemoryOverheadPercent: number;
  readonly reservedEnis: number;
  readonly preferencePolicy: "Respect" | "Ignore";
  readonly minValuesPolicy: "Strict" | "BestEffort";
  readonly spotToSpotConsolidation: boolean;
  readonly capacityBuffer: boolean;
  /** Topology spread of pods that name none (SCHEDULER_CONFIG). */
  readonly defaultConstraints: readonly TopologySpreadConstraint[];
  readonly nodeOverlay: boolean;
  readonly nodeRepair: boolean;
  /** Capacity reservations that a class selects are used, and whatever is not launched into one stays out of all. */
  readonly reservedCapacity: boolean;
  readonly staticCapacity: boolean;
  /** Within this time, in milliseconds, a saving must have repaid its disruption; undefined asks for no such thing. */
  readonly consolidationHorizonMs: number | undefined;
  /** What moving one pod of eviction cost 1 counts as, in USD. */
  readonly podMoveCost: number;
  /** No endpoint of the Price List API and of IAM can be reached: neither is called. */
  readonly isolatedVpc: boolean;
  /** Zones that ARC shifts traffic away from get no new nodes. */
  readonly zonalShift: boolean;
  /** How long images that were found stay good, ms; the same of subnets. */
  readonly amiRefreshMs: number;
  readonly subnetRefreshMs: number;
  /** How long pods are waited for once one has come, and how long at most, ms. */
  readonly batchIdleMs: number;
  readonly batchMaxMs: number;
}

/** All that a handler may reach for one cluster. Each handler names the part that it uses. */
export interface ClusterDeps {
  readonly cluster: ClusterFacts;
  /** The account that it lives in, when that is another than the functions'. */
  readonly account?: string;
  readonly kubernetes: Kubernetes;
  readonly store: NodeClaimStore;
  readonly wakeUps: WakeUps;
  readonly catalogue: () => Promise<Catalogue>;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Hears what the log lines say became of nodes and pods (announcing.ts). */
  readonly announcements: Announcements;
  readonly settings: Settings;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Random, unique. */
  readonly newId: () => string;
}

/** The lifecycle alone reaches machines: what plans cannot launch, and what launches does not plan. */
export interface LifecycleDeps extends ClusterDeps {
  readonly fleet: Fleet;
}
