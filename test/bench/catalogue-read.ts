/**
 * The cost of the catalogue in a cold start: `node test/bench/catalogue-read.ts [--region us-west-2] [--runs 9]`. Each
 * run is a new process that unpacks the stored document and computes the instance types of one EC2NodeClass once. The
 * time to fetch the document is not included.
 */
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import { packCatalogue, unpackCatalogue } from "#adapters/catalogue/document.ts";
import { instanceTypesOf } from "#core/offerings/instance-types.ts";

interface Run {
  readonly types: number;
  readonly packedBytes: number;
  /** CPU time of this thread, which other load of the machine does not lengthen; `wallMs` is from start to end. */
  readonly unpackCpuMs: number;
  readonly typesCpuMs: number;
  readonly wallMs: number;
}

function once(region: string): Run {
  const bytes = packCatalogue(bundledCatalogue(region, { withSyntheticSpot: true }));
  const cpuMs = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  const start = performance.now();
  const startCpu = cpuMs();
  const catalogue = unpackCatalogue(bytes);
  const unpackedCpu = cpuMs();
  const types = instanceTypesOf({
    catalogue,
    nodeClass: {
      spec: { subnetSelectorTerms: [], securityGroupSelectorTerms: [], amiSelectorTerms: [{ alias: "al2023@latest" }] },
      status: { subnets: catalogue.zones.map(({ name, zoneId }) => ({ id: `subnet-${name}`, zone: name, zoneID: zoneId })) },
    },
    unavailable: [],
    settings: { vmMemoryOverheadPercent: 0.075, reservedEnis: 0 },
  });
  return {
    types: types.length,
    packedBytes: bytes.length,
    unpackCpuMs: unpackedCpu - startCpu,
    typesCpuMs: cpuMs() - unpackedCpu,
    wallMs: performance.now() - start,
  };
}

const { values } = parseArgs({
  options: { region: { type: "string", default: "us-west-2" }, runs: { type: "string", default: "9" }, once: { type: "boolean" } },
});

if (values.once) {
  console.log(JSON.stringify(once(values.region)));
} else {
  const runs = Array.from({ length: Number(values.runs) }, (): Run => {
    const child = spawnSync(process.execPath, [import.meta.filename, "--once", "--region", values.region], { encoding: "utf8" });
    if (child.status !== 0) throw new Error(child.stderr);
    return JSON.parse(child.stdout) as Run;
  });
  const spread = (of: (run: Run) => number): string => {
    const sorted = runs.map(of).sort((a, b) => a - b);
    return `${(sorted[0] ?? 0).toFixed(1).padStart(8)}${(sorted[Math.floor(sorted.length / 2)] ?? 0).toFixed(1).padStart(8)}`;
  };
  const [first] = runs;
  console.log(`${values.region}: ${first?.types} types, ${first?.packedBytes} bytes, ${runs.length} cold processes\n`);
  console.log("ms                          best  median");
  console.log(`unpack and parse, CPU   ${spread(({ unpackCpuMs }) => unpackCpuMs)}`);
  console.log(`instance types, CPU     ${spread(({ typesCpuMs }) => typesCpuMs)}`);
  console.log(`together, CPU           ${spread(({ unpackCpuMs, typesCpuMs }) => unpackCpuMs + typesCpuMs)}`);
  console.log(`together, by the clock  ${spread(({ wallMs }) => wallMs)}`);
}
