import { parseDurationOrNever } from "../lib/duration.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import { isVoluntaryEnd } from "./voluntary.ts";

/** Names in a line. */
const MAX_NAMES = 5;

/** What is done first when nothing holds a cluster any more, as sentences: from its records at a time, ms. */
export function heldWork(records: readonly NodeClaimRecord[], now: number): readonly string[] {
  const held = records.filter((record) => isVoluntaryEnd(record) && record.instance !== undefined);
  const expired = records.filter(
    (record) => record.terminating === undefined && record.initializedAt !== undefined && expiresBy(record, now),
  );
  return [
    ...(held.length > 0 ? [`continues within a minute with the end of ${counted(held)}, whose drain was held`] : []),
    ...(expired.length > 0 ? [`ends what has expired: ${counted(expired)}`] : []),
    "plans within a minute for pods that wait, then looks for disruptions as budgets allow",
  ];
}

function expiresBy({ manifest: { spec }, createdAt }: NodeClaimRecord, now: number): boolean {
  const lifetime = parseDurationOrNever(spec.expireAfter ?? "720h");
  return lifetime !== undefined && now >= createdAt + lifetime;
}

function counted(records: readonly NodeClaimRecord[]): string {
  const names = records.map(({ name }) => name).sort();
  const more = names.length - MAX_NAMES;
  return `${names.length} ${names.length === 1 ? "NodeClaim" : "NodeClaims"} (${names.slice(0, MAX_NAMES).join(", ")}${more > 0 ? ` and ${more} more` : ""})`;
}
