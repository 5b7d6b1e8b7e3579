import { gunzipSync, gzipSync } from "node:zlib";
import type { Catalogue } from "../../../core/offerings/catalogue.ts";

/** Name under which a region's catalogue is stored. */
export function documentName(region: string): string {
  return `catalogue/${region}`;
}

/** Compressed: a region is 0.5 MB of JSON and 60 KB of this. */
export function packCatalogue(catalogue: Catalogue): Uint8Array {
  return gzipSync(JSON.stringify(catalogue));
}

/** Throws when the bytes are none of `packCatalogue`'s. */
export function unpackCatalogue(bytes: Uint8Array): Catalogue {
  return JSON.parse(gunzipSync(bytes).toString("utf8")) as Catalogue;
}
