// The record of a cluster that is taken from a stack.
// In: the stack, its clusters, and what the small stack of the cluster is. Out: the record's next state, and the small
// stack gone. The functions' own stack is not updated.

import type { ClusterRecordState } from "#core/model/cluster-record.ts";
import { ConflictError } from "#core/ports/errors.ts";
import type { Print } from "#terminal/command.ts";
import { InputError } from "#terminal/input-error.ts";
import { fitEventSources } from "../account/event-sources.ts";
import type { UninstallPorts } from "../account/ports.ts";
import { type Serving, tableOfRecords } from "../account/serving.ts";
import type { StackState } from "../account/stack-state.ts";
import { isAddedStack } from "../install/added-stack.ts";
import { removeStack } from "./stack.ts";

/** What of a stack is about a cluster. */
export interface Served {
  readonly stack: StackState | undefined;
  readonly serving: Serving;
  /** Other clusters that the stack serves. */
  readonly others: readonly string[];
  /** The small stack that the cluster has where it was added. */
  readonly own: { readonly name: string; readonly state: StackState } | undefined;
}

/**
 * Functions read which clusters there are once a minute. A sweep that began before may still be at work, without harm:
 * what it asks for is refused.
 */
const FORGOTTEN_MS = 65_000;

/** The small stack, where there is one and it is of this cluster and stack. */
export async function ownStackOf(
  name: string,
  { cluster, stackName }: { readonly cluster: string; readonly stackName: string },
  { stacks }: Pick<UninstallPorts, "stacks">,
): Promise<Served["own"]> {
  const state = await stacks.describe(name);
  if (state === undefined) return undefined;
  if (!isAddedStack(state, stackName, cluster))
    throw new InputError(`stack ${name} is not the one that ${stackName} has for cluster ${cluster}`);
  return { name, state };
}

/**
 * Writes the state; does nothing where no function is left to read it, or where it is written. Whether it was written.
 */
export async function writeState(
  state: Extract<ClusterRecordState, "leaving" | "left">,
  { cluster }: { readonly cluster: string },
  { stack, others }: Served,
  { clusterRecords }: Pick<UninstallPorts, "clusterRecords">,
): Promise<boolean> {
  const table = stack && tableOfRecords(stack);
  if (table === undefined) return false;
  const records = clusterRecords(table);
  const before = (await records.list()).find(({ name }) => name === cluster);
  // The last cluster takes the stack with it.
  if (before === undefined && others.length === 0) return false;
  if (before?.state === state || before?.state === "left") return false;
  try {
    await records.put({ ...(before ?? { name: cluster, sources: [], version: 0 }), state });
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    throw new InputError(`another run of install or uninstall is at work on cluster ${cluster}; wait for its end, then run this again`);
  }
  return true;
}

/** The functions stop working for the cluster, and then its small stack goes, whose roles they have used. */
export async function leave(
  options: { readonly cluster: string; readonly stackName: string },
  served: Served,
  ports: UninstallPorts,
  print: Print,
): Promise<void> {
  const isNew = await writeState("left", options, served, ports);
  if (isNew && served.others.length > 0) {
    print(`the functions stop working for cluster ${options.cluster} within a minute; waiting for that`);
    await ports.sleep(FORGOTTEN_MS);
  }
  if (served.own === undefined) return;
  print(`removing stack ${served.own.name}`);
  await removeStack(served.own.name, ports, print);
}

/** The record goes last: until then uninstall knows what is to be taken away. */
export async function forget(
  { cluster, stackName }: { readonly cluster: string; readonly stackName: string },
  { stack, serving, others }: Served,
  ports: UninstallPorts,
  print: Print,
): Promise<void> {
  const table = stack && tableOfRecords(stack);
  if (table === undefined) return;
  const records = ports.clusterRecords(table);
  if (others.length > 0) await fitEventSources(await ports.stacks.resources(stackName), others.length, ports.eventSources);
  // Where the settings of the stack still name it, the functions would work for it again without its mark.
  if (serving.named.includes(cluster)) return;
  await records.remove(cluster);
  print(`cluster ${cluster} is no longer in the table of ${stackName}`);
}
