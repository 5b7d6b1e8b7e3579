import type { ClusterOverview, PastEvent, PastOverview, PodOverview, ViewIndex } from "#core/insight/overview/types.ts";

/** What a view shows, and when it changes. Scenes are asked for by the ids that the index names. */
export interface ViewSource {
  index(): ViewIndex;
  /** Undefined for an id that the index does not name, as in `pods`. */
  scene(id: string): Promise<ClusterOverview | undefined>;
  pods(id: string): Promise<readonly PodOverview[] | undefined>;
  /** What happened in so many days; absent where no history is read. */
  past?(id: string, days: number): Promise<PastOverview | undefined>;
  /** What is known of a NodeClaim, gone or not, the earliest first. */
  story?(id: string, nodeClaim: string): Promise<readonly PastEvent[] | undefined>;
  /** Calls the listener after each change of the index' revision. Returns what ends that. */
  onChange(listener: () => void): () => void;
}
