import { NODE_POOL } from "#core/model/labels.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { instanceFromStatus } from "#core/rebuild/record.ts";

/** What became of a NodeClaim. */
export interface AdoptedClaim {
  readonly claim: NodeClaim;
  readonly record?: Pick<NodeClaimRecord, "instance">;
  readonly outcome: string;
}

const HEAD = ["NODECLAIM", "NODEPOOL", "NODE", "INSTANCE", "TYPE", "ZONE", "CAPACITY", ""];

/** A line for each NodeClaim under a line of headings, in columns. */
export function adoptionTable(all: readonly AdoptedClaim[]): readonly string[] {
  const rows = all.map(({ claim, record, outcome }) => {
    const { id = "-", instanceType = "-", zone = "-", capacityType = "-" } = record?.instance ?? instanceFromStatus(claim) ?? {};
    const pool = claim.metadata.labels?.[NODE_POOL] ?? "-";
    return [claim.metadata.name, pool, claim.status?.nodeName ?? "-", id, instanceType, zone, capacityType, outcome];
  });
  if (rows.length === 0) return [];
  const widths = HEAD.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  return [HEAD, ...rows].map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
