import { jsonBytes, jsonIn } from "#adapters/store/json-bytes.ts";
import { readDocument } from "#adapters/store/read-document.ts";
import { type ExpectedSavings, expectedSavings } from "#core/disruption/consolidation/expected-savings.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import type { ClusterState } from "../shared/cluster-state.ts";
import { disruptionSettings } from "./settings.ts";

type StoreDeps = Pick<ClusterDeps, "cluster" | "store" | "log" | "settings">;

const nameOf = ({ cluster }: StoreDeps): string => `expected-savings/${cluster.name}`;

/**
 * What the last consolidation was to save; undefined before the first one, and when the document is damaged. Of a table
 * that does not answer nothing is known, so its error is thrown: the consolidation would be decided again.
 */
export async function readExpectedSavings(deps: StoreDeps): Promise<ExpectedSavings | undefined> {
  const reading = { name: nameOf(deps), what: "What the last consolidation was to save", parse: parsed };
  return (await readDocument(deps, reading))?.value;
}

function parsed(bytes: Uint8Array): ExpectedSavings | undefined {
  const read = jsonIn(bytes) as ExpectedSavings;
  const { command, at, costPerHour, savesPerHour, cpu, memory, missed } = read;
  return typeof command === "string" && [at, costPerHour, savesPerHour, cpu, memory, missed].every(Number.isFinite) ? read : undefined;
}

/**
 * Follows a step of a command: stores what a consolidation that begins is to save, before anything is done for it, and
 * that nothing is expected of one that is given up. A kill in between costs one wait at most. `next` is the command
 * after the step. Returns what is expected from then on.
 */
export async function followSavings(
  { phase, method }: CommandRecord,
  next: CommandRecord | undefined,
  { snapshot, commands }: Pick<ClusterState, "snapshot" | "commands">,
  last: ExpectedSavings | undefined,
  deps: StoreDeps,
): Promise<ExpectedSavings | undefined> {
  if (next === undefined || next.phase === phase || (method !== "multi" && method !== "single")) return last;
  if (next.phase === "RollingBack") {
    return last?.command === next.id ? await keep({ ...last, savesPerHour: 0 }, deps) : last;
  }
  if (phase !== "Validating") return last;
  const costs = disruptionSettings(deps.cluster.name, deps.settings);
  return await keep(expectedSavings(next, snapshot, commands, costs, last), deps);
}

async function keep(expected: ExpectedSavings, deps: StoreDeps): Promise<ExpectedSavings> {
  await deps.store.putDocument(nameOf(deps), jsonBytes(expected), String(expected.at));
  return expected;
}
