/**
 * The fake as a process: `node test/e2e/fake-aws/main.ts --port 4600`. Prints one JSON line when it listens. control.ts
 * serves its control interface under `/_fake/`. It ends on SIGTERM, on SIGINT, or, with `--stop-with-stdin`, when its
 * parent ends.
 */
import { parseArgs } from "node:util";
import { BUNDLED_REGIONS } from "#adapters/catalogue/bundled.ts";
import { regionCatalogue } from "./bundled-catalogue.ts";
import { type FakeCatalogue, loadCatalogue } from "./catalogue.ts";
import { smallCatalogue } from "./small-catalogue.ts";

const USAGE = `usage: main.ts [--port N] [--cluster NAME] [--boot-ms N] [--terminate-ms N] [--stop-with-stdin]
               [--region ${BUNDLED_REGIONS.join("|")}]                        (all its types; default: nine of us-west-2)
               [--instance-types FILE --prices FILE --spot-prices FILE]   (raw records, JSON or .gz, instead)`;

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n${USAGE}\n`);
  process.exit(2);
}

function readArguments() {
  try {
    return parseArgs({
      options: {
        port: { type: "string", default: "0" },
        cluster: { type: "string" },
        "boot-ms": { type: "string" },
        "terminate-ms": { type: "string" },
        region: { type: "string" },
        "instance-types": { type: "string" },
        prices: { type: "string" },
        "spot-prices": { type: "string" },
        "stop-with-stdin": { type: "boolean" },
      },
    }).values;
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

const values = readArguments();

function number(name: "port" | "boot-ms" | "terminate-ms"): number | undefined {
  const value = values[name];
  if (value === undefined) return undefined;
  if (!/^\d+$/.test(value)) return fail(`--${name} must be a whole number, not '${value}'.`);
  return Number(value);
}

function catalogue(): FakeCatalogue {
  const { "instance-types": instanceTypes, prices, "spot-prices": spotPrices } = values;
  if (!instanceTypes && !prices && !spotPrices) {
    if (values.region === undefined) return smallCatalogue;
    const region = BUNDLED_REGIONS.find((known) => known === values.region);
    return region === undefined
      ? fail(`--region must be one of ${BUNDLED_REGIONS.join(", ")}, not '${values.region}'.`)
      : regionCatalogue(region);
  }
  if (!instanceTypes || !prices || !spotPrices) return fail("--instance-types, --prices and --spot-prices go together.");
  try {
    return loadCatalogue({ instanceTypes, prices, spotPrices });
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

const bootDelayMs = number("boot-ms");
const terminateDelayMs = number("terminate-ms");
const sold = catalogue();
// Imported late, because the SDK takes a second to load and a wrong argument should fail at once.
const { startFakeAws } = await import("./fake-aws.ts");
const fake = await startFakeAws({
  catalogue: sold,
  port: number("port") ?? 0,
  ...(values.cluster === undefined ? {} : { cluster: { name: values.cluster } }),
  ...(bootDelayMs === undefined ? {} : { bootDelayMs }),
  ...(terminateDelayMs === undefined ? {} : { terminateDelayMs }),
}).catch((error: unknown) => fail(`Cannot listen: ${error instanceof Error ? error.message : String(error)}. Give another --port.`));

process.stdout.write(`${JSON.stringify({ url: fake.url, port: fake.port, pid: process.pid, region: fake.state.region })}\n`);
const stop = () => {
  fake.close().then(
    () => process.exit(0),
    () => process.exit(1),
  );
};
process.on("SIGTERM", stop);
process.on("SIGINT", stop);
if (values["stop-with-stdin"]) process.stdin.resume().on("end", stop);
