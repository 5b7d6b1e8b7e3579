import { gunzipSync, gzipSync } from "node:zlib";
import { readDocument } from "#adapters/store/read-document.ts";
import type { PaidShare } from "#core/model/paid-capacity.ts";
import { type PaidReadings, paidShares } from "#core/offerings/commitments.ts";
import type { Log } from "#core/ports/log.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import type { ClusterDeps } from "./cluster-deps.ts";

/**
 * What Savings Plans and reserved instances of the account pay for. The catalog reads the account every few minutes and
 * writes down what is left, and what each cluster uses of it (functions/catalog/paid-capacity.ts). A decision counts
 * its own cluster's machines as they are now, and the others as they were then: two clusters that count on the same
 * rest cost what the overlap costs on demand, until the younger machines are consolidated.
 */

type PaidDeps = Pick<ClusterDeps, "cluster" | "catalogue" | "now"> & {
  readonly account?: string;
  readonly settings: Pick<ClusterDeps["settings"], "savingsPlans" | "reservedInstances">;
  readonly store: Partial<Pick<NodeClaimStore, "getDocument">>;
  readonly log?: Log;
};

/** Whether machines are counted as paid for at all: where no setting says so, nothing is read. */
export function countsPaid({ settings, account }: Pick<PaidDeps, "settings" | "account">): boolean {
  // Savings Plans that the setting names are those of the account of the functions.
  return settings.reservedInstances || (settings.savingsPlans.length > 0 && account === undefined);
}

export function paidDocument(region: string, account: string | undefined): string {
  return `paid/${region}${account === undefined ? "" : `/${account}`}`;
}

export async function readPaidReadings(
  deps: { readonly store: Pick<NodeClaimStore, "getDocument">; readonly log?: Log },
  name: string,
): Promise<readonly PaidReadings[]> {
  return (await readDocument(deps, { name, what: "What Savings Plans and reserved instances pay for", parse: parsed }))?.value ?? [];
}

export function packReadings(readings: readonly PaidReadings[]): Uint8Array {
  return gzipSync(JSON.stringify(readings));
}

function parsed(bytes: Uint8Array): readonly PaidReadings[] | undefined {
  const read: unknown = JSON.parse(gunzipSync(bytes).toString("utf8"));
  const isReading = ({ at, shares }: PaidReadings): boolean =>
    Number.isFinite(at) && shares.every(({ of, perHour, left, byCluster }) => of && byCluster && [perHour, left].every(Number.isFinite));
  return Array.isArray(read) && read.every(isReading) ? read : undefined;
}

/** What a cluster may count on, for pods that wait or for nodes that run; empty where nothing is known or counted. */
export async function readPaid({ store: { getDocument }, ...deps }: PaidDeps, isForPods: boolean): Promise<readonly PaidShare[]> {
  if (getDocument === undefined || !countsPaid(deps)) return [];
  const { region } = await deps.catalogue();
  const readings = await readPaidReadings(
    { store: { getDocument }, ...(deps.log && { log: deps.log }) },
    paidDocument(region, deps.account),
  );
  return paidShares(readings, deps.cluster.name, deps.now(), isForPods);
}
