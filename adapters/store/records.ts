import type { LaunchGroup } from "#core/model/launch-group.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { claimRecordProblem, launchGroupProblem, RECORD_SCHEMA, type UnreadableRecord } from "#core/model/read-record.ts";
import { UnreadableRecordError } from "#core/ports/errors.ts";

/** What is stored of a record: a schema that another version wrote stays. */
export const withSchema = <T extends { readonly schema?: number }>(record: T): T => ({ ...record, schema: record.schema ?? RECORD_SCHEMA });

/** The stored record of a NodeClaim. Throws UnreadableRecordError. */
export function readClaim(value: unknown, { cluster, name }: { readonly cluster: string; readonly name: string }): NodeClaimRecord {
  const problem = claimRecordProblem(value, { cluster, name });
  if (problem !== undefined)
    throw new UnreadableRecordError(`the record of NodeClaim ${name} cannot be read: ${problem}; it is left as it is`);
  return value as NodeClaimRecord;
}

/** The stored records of a cluster that can be read; the others are given to `setAside`. */
export function readClaims(
  stored: readonly { readonly name: string; readonly value: unknown }[],
  cluster: string,
  setAside: (record: UnreadableRecord) => void = () => undefined,
): readonly NodeClaimRecord[] {
  return stored.flatMap(({ name, value }) => {
    const problem = claimRecordProblem(value, { cluster, name });
    if (problem === undefined) return [value as NodeClaimRecord];
    setAside({ cluster, name, problem });
    return [];
  });
}

/** The stored part of a launch group. Throws UnreadableRecordError. */
export function readGroup(value: unknown, id: string): Pick<LaunchGroup, "isDissolved" | "launch" | "answer"> {
  const problem = launchGroupProblem(value);
  if (problem !== undefined) throw new UnreadableRecordError(`the launch group ${id} cannot be read: ${problem}; it is left as it is`);
  return value as Pick<LaunchGroup, "isDissolved" | "launch" | "answer">;
}

/** The record that an index gave for an instance; undefined when it cannot be read or has another instance. */
export function ownerOf(value: unknown, instanceId: string): NodeClaimRecord | undefined {
  if (claimRecordProblem(value) !== undefined) return undefined;
  const record = value as NodeClaimRecord;
  return record.instance?.id === instanceId ? record : undefined;
}
