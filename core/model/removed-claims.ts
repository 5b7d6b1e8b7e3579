import type { CommandRecord } from "./command-record.ts";
import type { NodeClaimRecord } from "./node-claim-record.ts";

/**
 * NodeClaims of commands that can no longer be given up: their replacements are being launched, or they are being
 * deleted.
 */
export function removedBy(commands: readonly CommandRecord[]): ReadonlySet<string> {
  const running = commands.filter(({ phase }) => phase === "Replacing" || phase === "Deleting");
  return new Set(running.flatMap(({ candidates }) => candidates.map(({ nodeClaim }) => nodeClaim)));
}

/** The NodeClaims that, as far as the table says, are terminated or are about to be. */
export function removedClaims(table: {
  readonly records: readonly NodeClaimRecord[];
  readonly commands: readonly CommandRecord[];
}): ReadonlySet<string> {
  const terminating = table.records.flatMap(({ name, terminating: ending }) => (ending === undefined ? [] : [name]));
  return removedBy(table.commands).union(new Set(terminating));
}
