import { readFileSync } from "node:fs";
import { join } from "node:path";
import { zipPath } from "#infra/zip.ts";
import type { Bucket } from "../account/ports.ts";

/** A file of a synthesised stack, as its manifest of assets names it. */
interface Asset {
  readonly key: string;
  readonly path: string;
  readonly packaging: "zip" | "file";
}

type AssetManifest = {
  readonly files: Readonly<
    Record<
      string,
      {
        readonly source: { readonly path: string; readonly packaging: "zip" | "file" };
        readonly destinations: Readonly<Record<string, { readonly objectKey: string }>>;
      }
    >
  >;
};

/** What the stack's code and template are called in the bucket; keys are hashes of contents. */
export function assetsOf(outDir: string, stack: string): { readonly assets: readonly Asset[]; readonly templateKey: string } {
  const { files } = JSON.parse(readFileSync(join(outDir, `${stack}.assets.json`), "utf8")) as AssetManifest;
  const assets = Object.values(files).flatMap(({ source, destinations }) =>
    Object.values(destinations).map(({ objectKey }) => ({ key: objectKey, path: join(outDir, source.path), packaging: source.packaging })),
  );
  const template = assets.find(({ path }) => path.endsWith(`${stack}.template.json`));
  if (template === undefined) throw new Error(`${outDir}: the stack ${stack} has no template among its assets`);
  return { assets, templateKey: template.key };
}

/** Uploads what the bucket does not have. Returns how many files that were. */
export async function upload(assets: readonly Asset[], bucket: Bucket): Promise<number> {
  let uploaded = 0;
  for (const { key, path, packaging } of assets) {
    if (await bucket.has(key)) continue;
    await bucket.put(key, new Uint8Array(packaging === "zip" ? zipPath(path) : readFileSync(path)));
    uploaded += 1;
  }
  return uploaded;
}
