import type { FleetRequest, FleetResult, LaunchTemplate } from "../model/fleet.ts";
import type { Instance } from "../model/instance.ts";

/** What EC2 reports of an instance whose checks fail or that has a scheduled event. */
export interface InstanceStatus {
  readonly instanceId: string;
  /** Since when the status check of the instance fails, ms. */
  readonly instanceFailedSince?: number;
  /** Since when the status check of the host (the "system") fails, ms. */
  readonly systemFailedSince?: number;
  /** Codes of the events that EC2 has scheduled for the instance: "instance-retirement". */
  readonly events: readonly string[];
}

/**
 * The EC2 instances of one account and region. The lifecycle function launches and terminates through it; garbage
 * collection lists through it.
 * @example
 * const { instance, errors } = await fleet.launch(record.launch); // the stored FleetRequest, unchanged
 * if (instance !== undefined) await fleet.tag(instance.id, { Name: node.metadata.name });
 */
export interface Fleet {
  /** Creates the launch template unless a template of its name exists. */
  ensureLaunchTemplate(template: LaunchTemplate): Promise<void>;
  /**
   * Sends one CreateFleet. A repeated call with the same client token returns the same instances.
   * Throws NotFoundError when a launch template was removed, RefusedError when the request can never succeed,
   * ThrottledError when EC2 asks to slow down.
   */
  launch(request: FleetRequest): Promise<FleetResult>;
  /** The instances with these ids that EC2 knows; unknown ids are left out, without an error. */
  describe(instanceIds: readonly string[]): Promise<readonly Instance[]>;
  /** All instances with the cluster's tags that are not terminated. */
  list(cluster: string): Promise<readonly Instance[]>;
  /** Terminates the instance; an instance that EC2 does not find counts as terminated. */
  terminate(instanceId: string): Promise<void>;
  /**
   * Reboots the instance in place. EC2 knows no token for it: each call is another reboot. Throws NotFoundError for an
   * instance that EC2 does not find, RefusedError when the functions may not. Absent where nothing is rebooted.
   */
  reboot?(instanceId: string): Promise<void>;
  tag(instanceId: string, tags: Readonly<Record<string, string>>): Promise<void>;
  /**
   * Instances of the whole account whose checks fail or that have a scheduled event. Absent where checks are not read.
   */
  impaired?(): Promise<readonly InstanceStatus[]>;
  /**
   * Deletes the cluster's launch templates that were created before a time (ms) and returns how many. Safe beside a
   * launch: the launch gets NotFoundError and creates its template again. Absent where templates are never removed.
   */
  removeLaunchTemplates?(cluster: string, madeBefore: number): Promise<number>;
}
