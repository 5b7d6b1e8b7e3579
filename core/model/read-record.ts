import { isJsonObject } from "../lib/json.ts";
import type { CommandCandidate, CommandRecord } from "./command-record.ts";
import type { NodeClaimRecord } from "./node-claim-record.ts";

/**
 * The version of the records that this code writes and reads. A field that older code may leave out does not raise it:
 * code keeps the fields that it does not know. What older code would misread raises it.
 */
export const RECORD_SCHEMA = 1;

/** A record that this code cannot read: another version wrote it, or it is damaged. It is left as it is. */
export interface UnreadableRecord {
  readonly cluster: string;
  /** Name of the NodeClaim. */
  readonly name: string;
  /** One sentence. */
  readonly problem: string;
}

type Kind = "string" | "number" | "strings" | "object";

const CLAIM_FIELDS: Readonly<Record<string, Kind>> = {
  ...({ cluster: "string", name: "string", intentId: "string", reason: "string" } as const),
  ...({ version: "number", createdAt: "number", launchAttempts: "number", pricePerHour: "number", dueAt: "number" } as const),
  ...({ podUids: "strings", instanceTypes: "strings", manifest: "object" } as const),
};
const COMMAND_FIELDS: Readonly<Record<string, Kind>> = {
  ...({ cluster: "string", id: "string", method: "string", reason: "string", decision: "string", phase: "string" } as const),
  ...({ version: "number", savingsPerHour: "number", createdAt: "number", since: "number", dueAt: "number" } as const),
  replacementClaims: "strings",
};
const PHASES: ReadonlySet<unknown> = new Set(["Validating", "Replacing", "Deleting", "RollingBack"]);

const isStrings = (value: unknown): boolean => Array.isArray(value) && value.every((item) => typeof item === "string");
const IS: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  strings: isStrings,
  object: isJsonObject,
};

function fieldProblem(value: Readonly<Record<string, unknown>>, fields: Readonly<Record<string, Kind>>): string | undefined {
  const schema = value["schema"] ?? RECORD_SCHEMA;
  if (typeof schema !== "number" || schema > RECORD_SCHEMA)
    return `a newer version wrote it (schema ${String(schema)}; this one reads ${RECORD_SCHEMA})`;
  const wrong = Object.entries(fields).find(([name, kind]) => !IS[kind](value[name]));
  return wrong && `its field ${wrong[0]} is missing or is no ${wrong[1] === "strings" ? "list of strings" : wrong[1]}`;
}

/** Why the record of a NodeClaim cannot be read; undefined when it can. */
export function claimRecordProblem(value: unknown): string | undefined {
  if (!isJsonObject(value)) return "it is no object";
  const problem = fieldProblem(value, CLAIM_FIELDS);
  if (problem !== undefined) return problem;
  const { manifest, instance, terminating } = value as unknown as NodeClaimRecord;
  if (!isJsonObject(manifest.metadata) || !isJsonObject(manifest.spec) || !Array.isArray(manifest.spec.requirements))
    return "its field manifest is no NodeClaim";
  if (instance !== undefined && (!isJsonObject(instance) || typeof instance.id !== "string" || typeof instance.zone !== "string"))
    return "its field instance is no instance";
  return terminating !== undefined &&
    (!isJsonObject(terminating) || typeof terminating.reason !== "string" || typeof terminating.at !== "number")
    ? "its field terminating has no reason or no time"
    : undefined;
}

function commandProblem(value: Readonly<Record<string, unknown>>): string | undefined {
  const problem = fieldProblem(value, COMMAND_FIELDS);
  if (problem !== undefined) return problem;
  if (!Array.isArray(value["candidates"]) || candidatesOf(value).length !== value["candidates"].length)
    return "its candidates cannot be read";
  if (!Array.isArray(value["replacements"])) return "its replacements cannot be read";
  return PHASES.has(value["phase"]) ? undefined : `its phase ${String(value["phase"])} is not known`;
}

function candidatesOf({ candidates }: Readonly<Record<string, unknown>>): readonly CommandCandidate[] {
  const list: readonly unknown[] = Array.isArray(candidates) ? candidates : [];
  return list.flatMap((one) =>
    isJsonObject(one) && typeof one["nodeClaim"] === "string" && isStrings(one["pods"]) ? [one as unknown as CommandCandidate] : [],
  );
}

/**
 * A command as it was stored. One that cannot be read becomes a command that nothing advances or removes (phase
 * SetAside): its candidates, as far as they can be read, stay as they are until the version that wrote it ends it.
 */
export function readCommand(value: unknown, { cluster, id }: { readonly cluster: string; readonly id: string }): CommandRecord {
  const stored = isJsonObject(value) ? value : {};
  const problem = commandProblem(stored);
  if (problem === undefined) return stored as unknown as CommandRecord;
  return {
    ...{ cluster, id, version: 0, method: "drift", reason: "Drifted", decision: "delete", phase: "SetAside", problem },
    ...{ candidates: candidatesOf(stored), replacements: [], replacementClaims: [], savingsPerHour: 0, createdAt: 0, since: 0 },
    dueAt: Number.MAX_SAFE_INTEGER,
  };
}
