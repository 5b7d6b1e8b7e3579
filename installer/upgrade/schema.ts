import { GROUP_SCHEMA, RECORD_SCHEMA } from "#core/model/read-record.ts";
import { VERSION } from "#settings/version.ts";
import { compared } from "../checks/stack.ts";
import { fault, note, ok, type Verdict } from "../checks/verdict.ts";

/** What a stack is and what it becomes. */
interface Versions {
  /** Undefined where the stack does not say. */
  readonly version: string | undefined;
  /** Of the records that its functions write; undefined where the stack does not say. */
  readonly recordSchema: number | undefined;
}

/**
 * Whether this release can use the records of the deployed one. Functions leave records of a newer schema alone,
 * so that a step back by one version of the schema can be repaired by the way forward; what lies between two versions
 * is not tried.
 */
export function schemaVerdict(
  { version = "an unknown version", recordSchema = RECORD_SCHEMA }: Versions,
  own = { version: VERSION, recordSchema: GROUP_SCHEMA },
): Verdict {
  const back = recordSchema - own.recordSchema;
  if (back > 1)
    return fault(
      `the stack is of ${version}, whose records have schema ${recordSchema}, and ${own.version} reads up to schema ${own.recordSchema}; go back step by step, first to a release of schema ${recordSchema - 1}`,
    );
  if (back === 1)
    return note(
      `the stack is of ${version}, and ${own.version} does not read the records that it has written (schema ${recordSchema}): their NodeClaims are left as they are until a newer release runs again`,
    );
  const order = version === "an unknown version" ? undefined : compared(version, own.version);
  if (order === undefined) return ok(`to ${own.version}, records of schema ${own.recordSchema}`);
  return order > 0
    ? note(`back from ${version} to ${own.version}; both have records of schema ${recordSchema}`)
    : ok(`${version} to ${own.version}, records of schema ${own.recordSchema}`);
}
