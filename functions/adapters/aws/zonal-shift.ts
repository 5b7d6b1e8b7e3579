import { Sha256 } from "@smithy/core/checksum";
import { HttpRequest } from "@smithy/protocol-http";
import { SignatureV4 } from "@smithy/signature-v4";
import { NotFoundError } from "../../../core/ports/errors.ts";
import type { ShiftedZone, ZonalShift } from "../../../core/ports/zonal-shift.ts";

const TIMEOUT_MS = 5_000;

export interface ArcOptions {
  readonly region: string;
  /** The SDK's credentials or a provider of them. */
  readonly credentials: ConstructorParameters<typeof SignatureV4>[0]["credentials"];
  /** For tests. */
  readonly fetch?: typeof globalThis.fetch;
}

/** The fields of ARC's answer that are read; times in seconds since the epoch. */
interface ManagedResource {
  readonly zonalShifts?: readonly { readonly appliedStatus?: string; readonly awayFrom?: string; readonly expiryTime?: number }[];
  readonly autoshifts?: readonly { readonly appliedStatus?: string; readonly awayFrom?: string }[];
}

/**
 * The port ZonalShift: the one call to ARC that is needed, signed here, because ARC's SDK client would add 0.3 MB for a
 * setting that few use.
 */
export function arcZonalShift({ region, credentials, fetch = globalThis.fetch }: ArcOptions): ZonalShift {
  const signer = new SignatureV4({ service: "arc-zonal-shift", region, credentials, sha256: Sha256 });
  const hostname = `arc-zonal-shift.${region}.${region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com"}`;
  return {
    async awayFrom(clusterArn) {
      const path = `/managedresources/${encodeURIComponent(clusterArn)}`;
      const request = new HttpRequest({ method: "GET", protocol: "https:", hostname, path, headers: { host: hostname } });
      const { headers } = await signer.sign(request);
      const response = await fetch(`https://${hostname}${path}`, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
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
