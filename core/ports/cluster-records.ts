import type { ClusterRecord, UnreadableCluster } from "../model/cluster-record.ts";

/** The clusters that were added to a stack after it was made. */
export interface ClusterRecords {
  /** All of them, in order of their names. `setAside` gets those that cannot be read. */
  list(setAside?: (record: UnreadableCluster) => void): Promise<readonly ClusterRecord[]>;
  /** Writes a record whose `version` is the stored one, 0 for one that is new. Throws ConflictError otherwise. */
  put(record: ClusterRecord): Promise<ClusterRecord>;
  /** Does nothing when there is none. */
  remove(name: string): Promise<void>;
}
