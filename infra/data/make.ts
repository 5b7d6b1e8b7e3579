/**
 * Makes the bundled catalogue and the golden file of its test out of a folder of raw facts (its README names the
 * packages that they were taken from; so does adapters/catalogue/data/README.md). Two runs over the same
 * folder give the same bytes.
 *
 *     node infra/data/make.ts FOLDER
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { type Catalogue, compactRecord, type TypeLimits } from "#core/offerings/catalogue.ts";

const REGIONS = ["us-west-2", "us-east-1", "ap-northeast-2"];
/** Date of the youngest fact: release of the package that the type records are from. */
const AS_OF = "2026-10-27";
const ROOT = new URL("../../", import.meta.url).pathname;
const DATA = join(ROOT, "adapters/catalogue/data");
const GOLDEN = join(ROOT, "test/core/offerings/instance-types.golden.json.gz");

interface RawRegion {
  readonly zones: Catalogue["zones"];
  readonly offerings: Readonly<Record<string, readonly string[]>>;
  readonly instanceTypes: readonly { readonly InstanceType: string }[];
}
interface RawLimit {
  readonly podENI?: number;
  readonly ipv4PerInterface?: number;
  readonly bandwidthMbps?: number | null;
}

function main(folder: string | undefined): void {
  if (folder === undefined || !existsSync(join(folder, "vpc-limits.json.gz"))) {
    console.error("node infra/data/make.ts: name the folder of raw facts; it must hold vpc-limits.json.gz, prices.json.gz and one describe-instance-types.REGION.json.gz a region");
    process.exitCode = 2;
    return;
  }
  const read = <T>(name: string): T => JSON.parse(gunzipSync(readFileSync(join(folder, name))).toString("utf8")) as T;
  mkdirSync(DATA, { recursive: true });

  const rawLimits = read<Record<string, RawLimit>>("vpc-limits.json.gz");
  const limits: Record<string, TypeLimits> = {};
  for (const [type, row] of Object.entries(rawLimits).sort(byKey)) {
    limits[type] = {
      ...(row.podENI && { podEni: row.podENI }),
      ...(row.ipv4PerInterface && { ipv4PerEni: row.ipv4PerInterface }),
      ...(typeof row.bandwidthMbps === "number" && { networkMbps: row.bandwidthMbps }),
    };
  }
  write(join(DATA, "limits.json.gz"), limits);

  const { onDemand } = read<{ onDemand: Record<string, Record<string, number>> }>("prices.json.gz");
  const { spot } = read<{ spot: Record<string, Record<string, Record<string, number>>> }>("spot-prices.synthetic.json.gz");
  for (const region of REGIONS) {
    const raw = read<RawRegion>(`describe-instance-types.${region}.json.gz`);
    const catalogue: Catalogue = {
      region,
      asOf: AS_OF,
      zones: raw.zones,
      types: raw.instanceTypes
        .map((record) => compactRecord(record, limits[record.InstanceType], raw.offerings[record.InstanceType] ?? []))
        .filter((type) => type !== undefined)
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
      onDemand: onDemand[region] ?? {},
    };
    write(join(DATA, `${region}.json.gz`), catalogue);
    write(join(DATA, `${region}.synthetic-spot.json.gz`), { synthetic: true, spot: spot[region] });
  }
  write(GOLDEN, JSON.parse(readFileSync(join(folder, "instance-types.json"), "utf8")));
}

function write(path: string, value: unknown): void {
  const bytes = gzipSync(JSON.stringify(value), { level: 9 });
  writeFileSync(path, bytes);
  console.log(`${String(Math.ceil(bytes.length / 1024)).padStart(4)} KiB  ${path.slice(ROOT.length)}`);
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

main(process.argv[2]);
