/**
 * Makes the bundled catalogue out of Karpenter's modules, moto's records of EC2 and EC2's own API model. It prints what
 * changes for users, with the CRDs, settings and feature gates of the release. sources.json names the releases that are
 * bundled; an option names another one. The same releases give the same bytes.
 *
 *     npm run data -- [--karpenter X.Y.Z] [--provider X.Y.Z] [--moto X.Y.Z] [--botocore X.Y.Z] [--dry-run]
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gunzipSync, gzipSync } from "node:zlib";
import { type Catalogue, compactRecord, type TypeLimits } from "#core/offerings/catalogue.ts";
import { type Bundle, dataChanges, type Release, releaseChanges } from "./changes.ts";
import { crdFields } from "./crd-fields.ts";
import { regionalPrices } from "./estimate-prices.ts";
import { goEnvironment } from "./go-environment.ts";
import { gatesIn, limitsIn, pricesIn, settingsIn } from "./provider-tables.ts";
import { syntheticSpot } from "./synthetic-spot.ts";
import { goModule, type Package, wheel } from "./upstream.ts";

const REGIONS = ["us-west-2", "us-east-1", "ap-northeast-2"];
/** The region whose prices the provider states. */
const PRICED = "us-east-1";
const ROOT = join(import.meta.dirname, "../..");
const DATA = join(ROOT, "adapters/catalogue/data");
const SOURCES = join(import.meta.dirname, "sources.json");
/** The Go module that builds the provider, and Karpenter's own answers for the records of a region. */
const PROVIDER_MODULE = join(ROOT, "test/versus/karpenter");
const GOLDEN = { region: "us-west-2", file: join(ROOT, "test/core/offerings/instance-types.golden.json.gz") };
const TABLES = "pkg/providers/instancetype/zz_generated";

interface Sources {
  readonly karpenter: string;
  readonly provider: string;
  readonly moto: string;
  readonly botocore: string;
}

function main(): void {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    options: { karpenter: text, provider: text, moto: text, botocore: text, "dry-run": { type: "boolean", default: false } },
  });
  const { "dry-run": isDry, ...asked } = values;
  const before = JSON.parse(readFileSync(SOURCES, "utf8")) as Sources;
  const after: Sources = { ...before, ...asked };
  const provider = goModule("github.com/aws/karpenter-provider-aws", after.provider);
  const moto = wheel("moto", after.moto, join(ROOT, ".cache/data"));
  const botocore = wheel("botocore", after.botocore, join(ROOT, ".cache/data"));

  const old = bundled();
  const made = make(provider, moto, old);
  const lines = [`# Karpenter ${after.karpenter}, provider ${after.provider}: what changes for users`, ""];
  lines.push(...dataChanges(old, made, typesNamedBy(botocore)));
  const own = Object.fromEntries(crdFiles(provider).map((file) => [file, crdFields(readOwn(file))]));
  lines.push(...releaseChanges(release(before), release(after), own));
  console.log(lines.join("\n"));
  if (isDry) return;
  write(made, after);
  writeGolden(made, moto, after.provider);
}

function make(provider: Package, moto: Package, old: Bundle): Bundle {
  const limits = limitsIn(provider.text(`${TABLES}.vpclimits.go`), provider.text(`${TABLES}.bandwidth.go`));
  const usEast1 = {
    before: old.catalogues.find(({ region }) => region === PRICED)?.onDemand ?? {},
    after: pricesIn(provider.text("pkg/providers/pricing/zz_generated.pricing_aws.go"), PRICED),
  };
  const records = recordsOf(moto);
  const catalogues = REGIONS.map((region) => {
    const types = typesOf(region, { moto, records, limits });
    const known = old.catalogues.find((catalogue) => catalogue.region === region)?.onDemand ?? {};
    const offered = types.map(({ name }) => name);
    const onDemand = regionalPrices(region === PRICED ? {} : known, usEast1, offered);
    return { region, asOf: moto.released, zones: zonesOf(region, moto), types, onDemand } satisfies Catalogue;
  });
  return { limits, catalogues };
}

function typesOf(
  region: string,
  {
    moto,
    records,
    limits,
  }: { readonly moto: Package; readonly records: Readonly<Record<string, object>>; readonly limits: Bundle["limits"] },
): Catalogue["types"] {
  const offerings = json<{ InstanceType: string; Location: string }[]>(
    moto.bytes(`moto/ec2/resources/instance_type_offerings/availability-zone/${region}.json.gz`),
  );
  const zones = Map.groupBy(offerings, ({ InstanceType }) => InstanceType);
  return [...zones]
    .map(([name, offers]) =>
      compactRecord(
        { ...records[name], InstanceType: name },
        limits[name],
        offers.map(({ Location }) => Location),
      ),
    )
    .filter((type) => type !== undefined)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function zonesOf(region: string, moto: Package): Catalogue["zones"] {
  const text = moto.text("moto/ec2/models/availability_zones_and_regions.py");
  const zones = text.matchAll(/region_name="([^"]+)",\s*name="([^"]+)",\s*zone_id="([^"]+)"/g);
  return [...zones].filter(([, of]) => of === region).map(([, , name = "", zoneId = ""]) => ({ name, zoneId }));
}

function typesNamedBy(botocore: Package): readonly string[] {
  const model = json<{ shapes: { InstanceType: { enum: string[] } } }>(botocore.bytes("botocore/data/ec2/2016-11-15/service-2.json.gz"));
  return model.shapes.InstanceType.enum.toSorted();
}

function release({ karpenter, provider }: Sources): Release {
  const core = goModule("sigs.k8s.io/karpenter", karpenter);
  const aws = goModule("github.com/aws/karpenter-provider-aws", provider);
  const options = [core.text("pkg/operator/options/options.go"), aws.text("pkg/operator/options/options.go")].join("\n");
  return {
    fields: Object.fromEntries(crdFiles(aws).map((file) => [file, crdFields(aws.text(`pkg/apis/crds/${file}`))])),
    settings: settingsIn(options),
    gates: gatesIn(options),
  };
}

const crdFiles = (provider: Package): readonly string[] => provider.list("pkg/apis/crds").filter((file) => file.endsWith(".yaml"));

function readOwn(file: string): string {
  const path = join(ROOT, "infra/crds", file);
  return existsSync(path) ? readFileSync(path, "utf8") : "spec: { versions: [] }";
}

function bundled(): Bundle {
  const read = <T>(name: string): T => json<T>(readFileSync(join(DATA, name)));
  return {
    limits: read<Record<string, TypeLimits>>("limits.json.gz"),
    catalogues: REGIONS.map((region) => read<Catalogue>(`${region}.json.gz`)),
  };
}

function write({ limits, catalogues }: Bundle, sources: Sources): void {
  const pack = (name: string, value: unknown): void => writeFileSync(join(DATA, name), gzipSync(JSON.stringify(value), { level: 9 }));
  pack("limits.json.gz", limits);
  for (const catalogue of catalogues) {
    pack(`${catalogue.region}.json.gz`, catalogue);
    pack(`${catalogue.region}.synthetic-spot.json.gz`, { synthetic: true, spot: syntheticSpot(catalogue.types, catalogue.onDemand) });
  }
  writeFileSync(SOURCES, `${JSON.stringify(sources, null, 2)}\n`);
}

/** Asks the provider itself; building it takes some minutes the first time. */
function writeGolden({ catalogues }: Bundle, moto: Package, version: string): void {
  if (!readFileSync(join(PROVIDER_MODULE, "go.mod"), "utf8").includes(`karpenter-provider-aws v${version}\n`)) {
    throw new Error(
      `test/versus/karpenter/go.mod names another release than ${version}: change it, run "go mod tidy -e" there, and repeat`,
    );
  }
  const catalogue = catalogues.find(({ region }) => region === GOLDEN.region);
  if (catalogue === undefined) throw new Error(`${GOLDEN.region} is not bundled`);
  const { region, zones, types, onDemand } = catalogue;
  const records = recordsOf(moto);
  const input = {
    ...{ region, zones, onDemand, spot: syntheticSpot(types, onDemand), instanceTypes: types.map(({ name }) => records[name]) },
    offerings: types.flatMap(({ name, zones }) => zones.map((zone) => ({ InstanceType: name, Location: zone }))),
  };
  const answer = execFileSync("go", ["run", "./instance-types"], {
    ...{ cwd: PROVIDER_MODULE, env: goEnvironment(), input: JSON.stringify(input), maxBuffer: 2 ** 30 },
  });
  writeFileSync(GOLDEN.file, gzipSync(JSON.stringify(JSON.parse(answer.toString("utf8"))), { level: 9 }));
}

const recordsOf = (moto: Package): Readonly<Record<string, object>> => json(moto.bytes("moto/ec2/resources/instance_types.json.gz"));

function json<T>(bytes: Buffer): T {
  return JSON.parse(gunzipSync(bytes).toString("utf8")) as T;
}

main();
