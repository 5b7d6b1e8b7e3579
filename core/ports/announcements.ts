/** What became of something, for people and programs outside the cluster: Slack, tickets, a data lake. */
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
  /** Plain JSON: the log line's message and fields, and `id`, which is the same for all tellings of one thing. */
  readonly detail: Readonly<Record<string, unknown>>;
}

/**
 * Tells the world outside what was decided and done, and why. Best effort: it takes a second at most and never rejects, since nothing that matters
 * may depend on it.
 */
export interface Announcements {
  announce(announcements: readonly Announcement[]): Promise<void>;
}
