// A cluster that a stack serves without being in its template: an item of the stack's table. `install` and `uninstall`
// write it, the functions read it (docs/decisions/0027-a-cluster-is-a-record.md).

import { isJsonObject } from "../lib/json.ts";

/**
 * `adding`: its installation has begun, and no function serves it yet. `served`: the functions work for it. `leaving`:
 * its nodes are drained and nothing is planned any more. `left`: no function serves it; what it had in the account is
 * being removed, or the stack's settings still name it.
 */
export type ClusterRecordState = "adding" | "served" | "leaving" | "left";

/** The roles in which functions reach what a cluster has in AWS. */
export interface ClusterRoles {
  readonly lifecycle: string;
  readonly catalog: string;
}

export interface ClusterRecord {
  readonly name: string;
  readonly state: ClusterRecordState;
  /** Counts the writes; a write names the version that was read. 0 before the first. */
  readonly version: number;
  /** Where wake-ups come from: "audit", "notify", "sweep". Empty for a cluster that the stack's settings name. */
  readonly sources: readonly string[];
  /** The log group of its audit records; /aws/eks/NAME/cluster when absent. */
  readonly logGroup?: string;
  /** ARNs; absent for a cluster that the stack's settings name, and before its access stack is made. */
  readonly roles?: ClusterRoles;
}

/** A cluster's item that no function can read: another version wrote it, or a hand. */
export interface UnreadableCluster {
  readonly name: string;
  readonly problem: string;
}

const STATES: ReadonlySet<unknown> = new Set<ClusterRecordState>(["adding", "served", "leaving", "left"]);
const ROLE_ARN = /^arn:[\w-]+:iam::\d{12}:role\/[\w+=,.@/-]+$/;

/** Reads a stored record. What a later version has added is left out. */
export function readClusterRecord(name: string, stored: unknown): ClusterRecord | UnreadableCluster {
  const unreadable = (problem: string): UnreadableCluster => ({ name, problem });
  if (!isJsonObject(stored)) return unreadable("it is not an object");
  const { state, version, sources, logGroup, roles } = stored;
  if (!STATES.has(state)) return unreadable(`its state is ${JSON.stringify(state)}, not adding, served, leaving or left`);
  if (typeof version !== "number") return unreadable("it has no version");
  if (!Array.isArray(sources) || !sources.every((source) => typeof source === "string"))
    return unreadable("its sources are no list of texts");
  if (logGroup !== undefined && typeof logGroup !== "string") return unreadable("its logGroup is no text");
  const found = roles === undefined ? undefined : rolesOf(roles);
  if (roles !== undefined && found === undefined) return unreadable("its roles are not the ARNs of lifecycle and catalog");
  return {
    ...{ name, state: state as ClusterRecordState, version, sources },
    ...(logGroup !== undefined && { logGroup }),
    ...(found !== undefined && { roles: found }),
  };
}

function rolesOf(value: unknown): ClusterRoles | undefined {
  if (!isJsonObject(value)) return undefined;
  const { lifecycle, catalog } = value;
  const isArn = (one: unknown): one is string => typeof one === "string" && ROLE_ARN.test(one);
  return isArn(lifecycle) && isArn(catalog) ? { lifecycle, catalog } : undefined;
}
