import type { FleetRequest, FleetResult, Instance, LaunchTemplate } from "../model/record.ts";

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
  /**
   * Deletes the cluster's launch templates made before a time (ms) and returns how many. Safe beside a launch: that one gets NotFoundError and
   * makes its template anew. Absent where templates cost nothing.
   */
  removeLaunchTemplates?(cluster: string, madeBefore: number): Promise<number>;
}
