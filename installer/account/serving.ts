// Which clusters a stack serves.
// In: the stack's outputs and its table. Out: the clusters of its settings, and those that were added to it since.
// Nothing here changes anything.

import type { ClusterRecord } from "#core/model/cluster-record.ts";
import type { ClusterRecords } from "#core/ports/cluster-records.ts";
import { readDeployed } from "#infra/deployed.ts";
import type { Stacks } from "./ports.ts";
import { isOurs, namesOf, type StackState } from "./stack-state.ts";

export interface Serving {
  /** Those that the stack works for, or soon will: of its settings, then those that were added. */
  readonly names: readonly string[];
  /** Those of its settings, also those that have left. */
  readonly named: readonly string[];
  /** Clusters that were added to it, and those of its settings that are leaving or have left. */
  readonly records: readonly ClusterRecord[];
}

export interface ServingPorts {
  readonly stacks: Pick<Stacks, "metadata">;
  readonly clusterRecords: (table: string) => Pick<ClusterRecords, "list">;
}

const NOBODY: Serving = { names: [], named: [], records: [] };

/** Reads it. A stack of a release without records has none. Rejects where the table may not be read. */
export async function servingOf(stackName: string, stack: StackState | undefined, ports: ServingPorts): Promise<Serving> {
  if (stack === undefined || !isOurs(stack)) return NOBODY;
  const named = await namedBy(stackName, stack, ports);
  const table = tableOfRecords(stack);
  const records = table === undefined ? [] : await ports.clusterRecords(table).list();
  return servingBy(named, records);
}

/** The same of what was read already. */
export function servingBy(named: readonly string[], records: readonly ClusterRecord[]): Serving {
  const left = new Set(records.flatMap(({ name, state }) => (state === "left" ? [name] : [])));
  const names = [...new Set([...named, ...records.map(({ name }) => name)])].filter((name) => !left.has(name));
  return { names, named, records };
}

/** The table of a stack to which clusters can be added; undefined for one of an older release. */
export function tableOfRecords({ outputs }: StackState): string | undefined {
  return outputs["AccessPath"] === undefined ? undefined : outputs["TableName"];
}

/** More names than an output takes are in the settings that the template keeps. */
async function namedBy(stackName: string, stack: StackState, { stacks }: ServingPorts): Promise<readonly string[]> {
  const told = namesOf(stack, "Clusters");
  if (told.length > 0 || stack.outputs["AccessPath"] === undefined) return told;
  const deployed = readDeployed(await stacks.metadata(stackName), stackName);
  return deployed?.settings.clusters.map(({ name }) => name) ?? [];
}
