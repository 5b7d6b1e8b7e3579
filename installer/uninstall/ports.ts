import type { InstallPorts } from "../install/ports.ts";
import type { Records } from "./hand-over.ts";

/** What a cluster that is gone has left in an account and region. All lists are read to their last page. */
export interface LeftBehind {
  /** Ids of instances with the tags of the cluster, a NodePool and an EC2NodeClass that are not ending. */
  readonly instances: (cluster: string) => Promise<readonly string[]>;
  readonly terminate: (ids: readonly string[]) => Promise<void>;
  /** Deletes those with the cluster's tag. Returns how many there were. */
  readonly removeLaunchTemplates: (cluster: string) => Promise<number>;
  /** Names of those under the cluster's path in IAM. */
  readonly instanceProfiles: (cluster: string) => Promise<readonly string[]>;
  /** Takes the role out first. Does nothing when there is none. */
  readonly removeInstanceProfile: (name: string) => Promise<void>;
  /** Names of the tables that deployments of this stack have made, also when the stack is gone. */
  readonly tables: (stack: string) => Promise<readonly string[]>;
  /** Does nothing when there is none. */
  readonly removeTable: (name: string) => Promise<void>;
}

export interface UninstallPorts extends InstallPorts {
  readonly leftBehind: LeftBehind;
  /** The records in a table. */
  readonly records: (table: string) => Records;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Asks the person; undefined where there is nobody to ask. */
  readonly confirm: (question: string) => Promise<boolean | undefined>;
}
