/** Why one node stays, as the last pass of disruption saw it. */
export interface Stay {
  readonly node: string;
  readonly nodeClaim: string;
  /** In the words of the events. */
  readonly why: string;
  /** What a user may do so that it can go. */
  readonly remedy: string;
}

/** Why the nodes of a cluster stay; written when it changes, every few minutes at most. */
export interface Stays {
  /** When it was seen, ms since the epoch. */
  readonly at: number;
  readonly nodes: readonly Stay[];
}

/** The name of the document that keeps them. */
export const staysDocument = (cluster: string): string => `stays/${cluster}`;

/** From the bytes of the document; undefined when they cannot be read. */
export function readStays(text: string): Stays | undefined {
  try {
    const { at, nodes } = JSON.parse(text) as Stays;
    return Number.isFinite(at) && Array.isArray(nodes) ? { at, nodes } : undefined;
  } catch {
    return undefined;
  }
}
