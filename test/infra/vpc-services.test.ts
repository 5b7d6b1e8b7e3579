import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bundleCode } from "#infra/build.ts";
import { FUNCTION_NAMES, FUNCTIONS } from "#infra/functions.ts";
import { parseSettings } from "#infra/settings.ts";
import { interfaceEndpoints, servicesInVpc } from "#infra/vpc-services.ts";
import { functionsToBundle } from "../support/effort.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const VPC = { subnetIds: ["subnet-1", "subnet-2"], securityGroupIds: ["sg-1"] };
const PLAIN = parseSettings({ clusters: [{ name: "one" }], vpc: VPC }, "test");
const EVERYTHING = parseSettings(
  {
    clusters: [{ name: "one" }, { name: "other", account: "111122223333" }],
    ...{ vpc: VPC, scrape: true, eventBus: "default", settings: { ENABLE_ZONAL_SHIFT: true } },
  },
  "test",
);

/** The endpoint of an SDK client's package, and of a file that calls a service by hand; without one in most regions. */
const ENDPOINTS: Readonly<Record<string, string>> = {
  eventbridge: "events",
  "secret.ts": "secretsmanager",
  "zonal-shift.ts": "arc-zonal-shift",
};
const WITHOUT_ENDPOINT = new Set(["iam", "pricing"]);

/** The services whose code is in a bundle: what its tree-shaking has left of clients. */
async function servicesOf(name: string): Promise<readonly string[]> {
  const { metafile } = await bundleCode(name, temporaryFolder("vpc-services"));
  const kept = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
  );
  const found = kept.flatMap(
    (file) =>
      /@aws-sdk\/client-([\w-]+)\/dist-es\/\w+Client\.js$/.exec(file)?.[1] ??
      /adapters\/aws\/(secret\.ts|zonal-shift\.ts)$/.exec(file)?.[1] ??
      [],
  );
  return [...new Set(found)].filter((service) => !WITHOUT_ENDPOINT.has(service)).map((service) => ENDPOINTS[service] ?? service);
}

describe("the services that functions in a VPC call", () => {
  it.for(functionsToBundle(FUNCTION_NAMES.filter((name) => FUNCTIONS[name].inClusters)))(
    "those of %s are those of its bundle",
    async (name) => {
      const called = [...servicesInVpc(EVERYTHING)].flatMap(([service, names]) => (names.some((one) => one === name) ? [service] : []));
      // What all functions share can send wake-ups; metrics has no queue to send them to.
      const inBundle = (await servicesOf(name)).filter((service) => name !== "metrics" || service !== "sqs");
      expect(inBundle.toSorted()).toEqual(called.toSorted());
    },
  );

  it("docs/deploy.md has a row for each", () => {
    const page = readFileSync(join(import.meta.dirname, "../../docs/deploy.md"), "utf8");
    const [, table = ""] = /^\| endpoint \|.*\n\| ---.*\n((?:\|.*\n)+)/m.exec(page) ?? [];
    const named = table.split("\n").flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`([\w-]+)`/g)].map(([, service]) => service));
    expect(named.toSorted()).toEqual([...servicesInVpc(EVERYTHING).keys()].toSorted());
  });

  it("a cluster that was added has roles that lifecycle and catalog assume", () => {
    expect(servicesInVpc(PLAIN, true).get("sts")).toEqual(["lifecycle", "catalog"]);
  });

  it("a plain stack needs four interface endpoints", () => {
    expect(interfaceEndpoints(PLAIN).toSorted()).toEqual(["ec2", "eks", "sqs", "ssm"]);
  });
});
