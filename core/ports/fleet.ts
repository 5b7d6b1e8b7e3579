import type { FleetRequest, FleetResult, LaunchTemplate } from "../model/fleet.ts";
import type { Instance } from "../model/instance.ts";

/** What EC2 says of an instance that is not as it should be. */
export interface InstanceStatus {
  readonly instanceId: string;
  /** Since when the check of the instance fails, ms. */
  readonly instanceFailedSince?: number;
  /** Since when the check of the host below it fails, ms. */
  readonly systemFailedSince?: number;
  /** Codes of what EC2 has planned for it: "instance-retirement". */
  readonly events: readonly string[];
}

/** The machines of one account and region. */
export interface Fleet {
  /** Makes the template unless one of that name exists. */
  ensureLaunchTemplate(template: LaunchTemplate): Promise<void>;
  /**
   * One CreateFleet for one instance, repeatable under its client token. Throws NotFoundError when a launch template has gone,
   * RefusedError when the request can never work, ThrottledError when asked to slow down.
   */
  launch(request: FleetRequest): Promise<FleetResult>;
  /** Instances by id that EC2 knows; those it does not know are left out, without an error. */
  describe(instanceIds: readonly string[]): Promise<readonly Instance[]>;
  /** All of a cluster that are not terminated, by their tags. */
  list(cluster: string): Promise<readonly Instance[]>;
  /** Not found counts as done. */
  terminate(instanceId: string): Promise<void>;
  tag(instanceId: string, tags: Readonly<Record<string, string>>): Promise<void>;
  /** Instances of the account, ours or not, whose checks fail or that EC2 has plans for. Absent where nothing is checked. */
  impaired?(): Promise<readonly InstanceStatus[]>;
  /**
   * Deletes the cluster's launch templates made before a time (ms) and returns how many. Safe beside a launch: that one gets NotFoundError and
   * makes its template anew. Absent where templates cost nothing.
   */
  removeLaunchTemplates?(cluster: string, madeBefore: number): Promise<number>;
}
