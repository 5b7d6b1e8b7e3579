/**
 * What happened to a NodeClaim, a node or a pod, for people and programs outside the cluster: Slack, tickets, a data
 * lake.
 */
export type AnnouncementKind =
  | "NodeClaim Launched"
  | "NodeClaim Registered"
  | "NodeClaim Initialized"
  | "NodeClaim Terminated"
  | "NodeClaim Launch Failed"
  | "Nodes Disrupted"
  | "Node Interrupted"
  | "Pod Unschedulable";

export interface Announcement {
  readonly kind: AnnouncementKind;
  readonly cluster: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /**
   * Plain JSON: the message and fields of the log line, and `id`, which is equal in all announcements of one
   * occurrence.
   */
  readonly detail: Readonly<Record<string, unknown>>;
}

/**
 * Publishes outside the cluster what was decided and done, and why. Best effort: a call takes at most one second and
 * never rejects, because no decision may depend on it.
 */
export interface Announcements {
  announce(announcements: readonly Announcement[]): Promise<void>;
}
