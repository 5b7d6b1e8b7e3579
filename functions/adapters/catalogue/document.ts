import { gunzipSync, gzipSync } from "node:zlib";
import type { Catalogue } from "../../../core/offerings/catalogue.ts";

/** Name under which a region's catalogue is stored. What another account is offered is kept apart: each has zones and offerings of its own. */
export function documentName(region: string, account?: string): string {
  return account === undefined ? `catalogue/${region}` : `catalogue/${region}/${account}`;
}

/** Compressed: a region is 0.5 MB of JSON and 60 KB of this. */
export function packCatalogue(catalogue: Catalogue): Uint8Array {
  return gzipSync(JSON.stringify(catalogue));
}

/** Throws when the bytes are none of `packCatalogue`'s. */
export function unpackCatalogue(bytes: Uint8Array): Catalogue {
  return JSON.parse(gunzipSync(bytes).toString("utf8")) as Catalogue;
}
