import type { FleetRequest } from "./fleet.ts";
import type { KnownInstance } from "./instance.ts";
import type { UnavailableOffering } from "./unavailable-offering.ts";

/** A NodeClaim that takes part in a launch of several. */
export interface GroupMember {
  readonly name: string;
  /**
   * Hash of what its launch is rendered from (core/launch-group/plan.ts): one request serves only members of
   * one hash.
   */
  readonly alike: string;
}

/**
 * NodeClaims that are launched by one CreateFleet. Members join until one of them closes the group: it stores the
 * request, or that there is none. The answer is stored with the instance of each member, before any member acts on it.
 * @example
 * const group = await store.joinLaunch(cluster, id, { name, alike }, now + GROUP_LIFE_MS);
 * if (group.launch) ...; // closed: only the names in launch.members share its instances
 */
export interface LaunchGroup {
  readonly cluster: string;
  /** Random; a tag of the instances, and the client token of the request. */
  readonly id: string;
  /** Grows by one with each write; a write names the version that it read. */
  readonly version: number;
  readonly members: readonly GroupMember[];
  /** When the table may forget it, ms. */
  readonly expiresAt: number;
  /** It is closed without a request: each member is launched alone. */
  readonly isDissolved?: true;
  readonly launch?: GroupLaunch;
  readonly answer?: GroupAnswer;
}

/** The request of a group: stored before it is sent, and repeated to the letter. */
export interface GroupLaunch {
  readonly request: FleetRequest;
  /** Names of the NodeClaims that share its instances, sorted. */
  readonly members: readonly string[];
  /** When it was stored, or may be sent at the earliest because EC2's bucket was empty, ms. */
  readonly requestedAt: number;
  /** When it was last sent with an outcome that is unknown, ms; absent while only its first call may be. */
  readonly unknownAt?: number;
  /** The member that sends it; others do when it has not answered for long. */
  readonly sender: string;
}

/** What came of the request of a group. */
export interface GroupAnswer {
  /** By name of the member. The others have none. */
  readonly instances: Readonly<Record<string, KnownInstance>>;
  /** Why some have none, as far as EC2 has said it. */
  readonly failure?: { readonly kind: "InsufficientCapacity" | "Refused"; readonly reason: string; readonly message: string };
  /** Offerings without capacity. */
  readonly unavailable: readonly UnavailableOffering[];
}

/** Whether members can no longer join. */
export const isClosed = ({ isDissolved, launch }: LaunchGroup): boolean => isDissolved === true || launch !== undefined;
