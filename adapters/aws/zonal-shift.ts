import { NotFoundError } from "#core/ports/errors.ts";
import type { ShiftedZone, ZonalShift } from "#core/ports/zonal-shift.ts";
import { type SignedCaller, signedFetch } from "./signed-fetch.ts";

type ArcOptions = Pick<SignedCaller, "region" | "credentials" | "fetch">;

/** The fields of ARC's answer that are read; times in seconds since the epoch. */
interface ManagedResource {
  readonly zonalShifts?: readonly { readonly appliedStatus?: string; readonly awayFrom?: string; readonly expiryTime?: number }[];
  readonly autoshifts?: readonly { readonly appliedStatus?: string; readonly awayFrom?: string }[];
}

/**
 * The port ZonalShift: the one call to ARC that is needed, because ARC's SDK client would add 0.3 MB for a setting that
 * few use.
 */
export function arcZonalShift(options: ArcOptions): ZonalShift {
  return {
    async awayFrom(clusterArn) {
      const path = `/managedresources/${encodeURIComponent(clusterArn)}`;
      const response = await signedFetch({ ...options, service: "arc-zonal-shift" }, { method: "GET", path });
      const body = (await response.json().catch(() => ({}))) as ManagedResource & { readonly message?: string };
      if (response.status === 404) throw new NotFoundError(`ARC does not manage ${clusterArn}`);
      if (!response.ok) throw new Error(`GetManagedResource of ${clusterArn}: ${response.status} ${body.message ?? ""}`.trimEnd());
      return [...(body.zonalShifts ?? []), ...(body.autoshifts ?? [])].flatMap(shiftedZone);
    },
  };
}

function shiftedZone(shift: {
  readonly appliedStatus?: string;
  readonly awayFrom?: string;
  readonly expiryTime?: number;
}): readonly ShiftedZone[] {
  const { appliedStatus, awayFrom, expiryTime } = shift;
  // When a practice run and a shift overlap, one of them is not applied.
  if (appliedStatus !== "APPLIED" || awayFrom === undefined) return [];
  return [{ zone: awayFrom, ...(expiryTime !== undefined && { until: expiryTime * 1_000 }) }];
}
