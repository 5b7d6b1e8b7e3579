import { familyOf } from "#core/model/paid-capacity.ts";
import { commitmentsOf, paidReading, withReading } from "#core/offerings/commitments.ts";
import type { CloudInventory } from "#core/ports/cloud-inventory.ts";
import { countsPaid, packReadings, paidDocument, readPaidReadings } from "../shared/paid-capacity.ts";
import type { CatalogDeps } from "./deps.ts";

/** How often an account is read, ms: a sweep that comes a little early reads it, too. */
const READ_EVERY_MS = 5 * 60_000 - 30_000;
const HOUR_MS = 60 * 60_000;

/**
 * Reads what commitments pay for and which machines of the account use it, whenever the last reading is five minutes
 * old, whichever cluster's sweep finds that. Two sweeps at the same time read twice and write nearly the same. What
 * cannot be read is logged once an hour, and the last readings stay in use.
 */
export async function refreshPaidCapacity(deps: CatalogDeps): Promise<void> {
  if (!countsPaid(deps)) return;
  const { account, cluster, store, log, now } = deps;
  const { region, onDemand, types } = await deps.catalogue();
  const name = paidDocument(region, account);
  const version = await store.documentVersion(name);
  if (version !== undefined && now() - Number(version) < READ_EVERY_MS) return;
  try {
    const shares = await readAccount(deps, onDemand);
    const at = now();
    const known = await readPaidReadings({ store, log }, name);
    await store.putDocument(name, packReadings(withReading(known, { at, shares })), String(at));
    const families = new Set(types.map((type) => familyOf(type.name)));
    const unknown = deps.settings.savingsPlans.flatMap(({ of }) => (of.kind === "family" && !families.has(of.family) ? [of.family] : []));
    if (unknown.length > 0 && (await store.isFirstWithin(cluster.name, "paid-capacity/unknown", at, HOUR_MS))) {
      const message = "SAVINGS_PLANS names families of which the region has no instance type: write the part before the dot, as m5";
      log.error(message, { region, families: unknown });
    }
  } catch (error) {
    if (!(await store.isFirstWithin(cluster.name, "paid-capacity/failed", now(), HOUR_MS))) return;
    const message = "failed reading what Savings Plans and reserved instances pay for; the last readings count for up to six hours";
    log.error(message, { region, error: error instanceof Error ? error.message : String(error) });
  }
}

async function readAccount({ inventory, settings, account }: CatalogDeps, prices: Readonly<Record<string, number>>) {
  const reserved = settings.reservedInstances ? await inventory.reservedInstances() : [];
  const commitments = commitmentsOf(account === undefined ? settings.savingsPlans : [], reserved, prices);
  const families = commitments.map(({ of }) => (of.kind === "any" ? undefined : of.kind === "family" ? of.family : familyOf(of.type)));
  return paidReading(commitments, await instancesOf(families, inventory), prices);
}

/** Undefined among the families is any family. */
async function instancesOf(families: readonly (string | undefined)[], inventory: CloudInventory) {
  if (families.length === 0) return [];
  const named = [...new Set(families.flatMap((family) => family ?? []))].sort();
  return inventory.onDemandInstances(families.includes(undefined) ? undefined : named);
}
