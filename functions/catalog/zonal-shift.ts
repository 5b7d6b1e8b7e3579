import { shiftedZoneMarks } from "../../core/offerings/unavailable.ts";
import { NotFoundError } from "../../core/ports/errors.ts";
import type { ShiftedZone, ZonalShift } from "../../core/ports/zonal-shift.ts";
import { publishOnce } from "../shared/publish-once.ts";
import type { CatalogDeps } from "./deps.ts";

export type ShiftDeps = Pick<CatalogDeps, "cluster" | "kubernetes" | "store" | "catalogue" | "log" | "now"> & {
  readonly zonalShift: ZonalShift;
};

/** A zone stays marked through two sweeps that are missed, so the end of a shift is noticed at most this late. */
const RENEWED_FOR_MS = 3 * 60_000;
const HOUR_MS = 60 * 60_000;

/**
 * Marks all offerings of the zones that ARC shifts the cluster away from as unavailable, so that no node is launched
 * there; existing nodes stay. Runs each minute while a shift lasts. When ARC cannot be reached, that is logged and the
 * sweep continues.
 */
export async function markShiftedZones({ zonalShift, ...deps }: ShiftDeps): Promise<void> {
  const { cluster, store, log, now } = deps;
  if (cluster.arn === undefined) return;
  const at = now();
  let shifted: readonly ShiftedZone[];
  try {
    shifted = await zonalShift.awayFrom(cluster.arn);
  } catch (error) {
    const isUnmanaged = error instanceof NotFoundError;
    if (isUnmanaged && !(await store.isFirstWithin(cluster.name, "zonal-shift/unmanaged", at, HOUR_MS))) return;
    const message = isUnmanaged
      ? "ENABLE_ZONAL_SHIFT is set, but ARC does not manage the cluster: aws eks update-cluster-config --zonal-shift-config enabled=true"
      : "failed asking ARC for zonal shifts; zones known to be shifted are left alone for three minutes more";
    log.error(message, { cluster: cluster.name, ...(!isUnmanaged && { error: error instanceof Error ? error.message : String(error) }) });
    return;
  }
  const { zones } = await deps.catalogue();
  for (const { zone, until = Number.POSITIVE_INFINITY } of shifted) {
    const name = zones.find((known) => known.zoneId === zone || known.name === zone)?.name;
    if (name === undefined || until <= at) continue;
    await store.markUnavailable(cluster.name, shiftedZoneMarks(name, Math.min(until, at + RENEWED_FOR_MS)));
    await publishShift(name, deps);
  }
}

async function publishShift(zone: string, deps: Omit<ShiftDeps, "zonalShift">): Promise<void> {
  const message = `Zonal shift moves the cluster away from ${zone}: no nodes are launched there`;
  if (await deps.store.isFirstWithin(deps.cluster.name, `zonal-shift/${zone}`, deps.now(), HOUR_MS)) deps.log.info(message, { zone });
  for (const { metadata } of await deps.kubernetes.list("NodePool")) {
    await publishOnce({ type: "Warning", reason: "ZonalShiftActive", message, about: { kind: "NodePool", metadata } }, deps, HOUR_MS);
  }
}
