import { jsonBytes, jsonIn } from "#adapters/store/json-bytes.ts";
import { readDocument } from "#adapters/store/read-document.ts";
import { ZONE } from "#core/model/labels.ts";
import { shiftedZoneMarks } from "#core/offerings/unavailable.ts";
import { NotFoundError } from "#core/ports/errors.ts";
import type { PublishedEvent } from "#core/ports/kubernetes.ts";
import type { ShiftedZone, ZonalShift } from "#core/ports/zonal-shift.ts";
import { incompatibility, requirementsFrom, requirementsFromLabels } from "#core/requirements/requirements.ts";
import { publishOnce } from "../shared/publish-once.ts";
import type { CatalogDeps } from "./deps.ts";

type ShiftDeps = Pick<CatalogDeps, "cluster" | "kubernetes" | "store" | "catalogue" | "memory" | "log" | "now"> & {
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
  const active = new Set<string>();
  for (const { zone, until = Number.POSITIVE_INFINITY } of shifted) {
    const name = zones.find((known) => known.zoneId === zone || known.name === zone)?.name;
    if (name === undefined || until <= at) continue;
    await store.markUnavailable(cluster.name, shiftedZoneMarks(name, Math.min(until, at + RENEWED_FOR_MS)));
    active.add(name);
  }
  await publishChanges(active, deps);
}

/**
 * Publishes on NodePools which zones are shifted since the last sweep, and which are no longer. The table has the list
 * of shifted zones. It is written after the events, so that the sweep after a kill publishes them again.
 */
async function publishChanges(active: ReadonlySet<string>, deps: Omit<ShiftDeps, "zonalShift">): Promise<void> {
  const { cluster, store } = deps;
  const name = `zonal-shift/${cluster.name}`;
  const before = await readDocument(deps, { name, what: "The list of shifted zones", parse: parsed });
  const known = new Set(before?.value ?? []);
  const began = [...active].filter((zone) => !known.has(zone));
  const ended = [...known].filter((zone) => !active.has(zone));
  if (began.length === 0 && ended.length === 0) return;
  for (const zone of began) {
    const message = `Zonal shift moves the cluster away from ${zone}: no nodes are launched there`;
    await publish({ type: "Warning", reason: "ZonalShiftActive", message }, zone, deps);
  }
  for (const zone of ended) {
    const message = `Zonal shift away from ${zone} has ended: nodes are launched there again`;
    await publish({ type: "Normal", reason: "ZonalShiftCleared", message }, zone, deps);
  }
  const zones = [...active].sort();
  await store.putDocument(name, jsonBytes(zones), zones.join(",") || "none");
}

function parsed(bytes: Uint8Array): readonly string[] | undefined {
  const read: unknown = jsonIn(bytes);
  return Array.isArray(read) && read.every((zone) => typeof zone === "string") ? read : undefined;
}

/** Writes a log line, and an event for each NodePool that may launch nodes in the zone. */
async function publish(event: Omit<PublishedEvent, "about">, zone: string, deps: Omit<ShiftDeps, "zonalShift">): Promise<void> {
  deps.log.info(event.message, { zone });
  for (const { metadata, spec } of await deps.kubernetes.list("NodePool")) {
    const wanted = requirementsFrom(spec.template.spec.requirements);
    if (incompatibility(requirementsFromLabels({ [ZONE]: zone }), wanted, new Set(wanted.keys())) !== undefined) continue;
    await publishOnce({ ...event, about: { kind: "NodePool", metadata } }, deps);
  }
}
