/**
 * Runs the contract on moto, which checks the contract's own assumptions: `node test/contracts/ec2/moto.ts`. Installs
 * `moto[server]` under `.cache/moto` when it is missing, prints one line for each check, and exits 1 when a check fails
 * that is not a known gap, or when a known gap passes.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CreateClusterCommand } from "@aws-sdk/client-eks";
import { CreateRoleCommand } from "@aws-sdk/client-iam";
import { freePort } from "../../e2e/support/child.ts";
import { ec2Contract, type KnownGaps } from "./contract.ts";
import type { ContractWorld, Target } from "./world.ts";

const MOTO = "moto[server]==5.2.5";
const HOME = resolve(import.meta.dirname, "../../../.cache/moto");
const READY_WITHIN_MS = 300_000;

/** Differences of moto 5.2.5 from AWS's documentation. When a later version closes a gap, the run reports it. */
const KNOWN_GAPS: KnownGaps = {
  "a fleet's instance has the template's security groups": "a fleet ignores the groups of the template's network interfaces",
  "a fleet's instance has the template's metadata options": "a fleet loses HttpTokens",
  "a fleet's instance has the template's instance profile": "a fleet ignores the template's instance profile",
  "a spot fleet's instance says spot and names its spot request": "a spot instance has no SpotInstanceRequestId",
  "an on-demand fleet takes the cheapest of its overrides": "moto has no prices; it takes the first override",
  "the same client token and parameters give the same instances and launch nothing more": "CreateFleet ignores ClientToken",
  "the same client token with other parameters is refused": "CreateFleet ignores ClientToken",
  "a fleet with a bad subnet lists the error and does not fail": "a bad subnet fails the whole call; there is no error set",
  "a fleet launches from the good override when another is bad, and lists the bad one's error":
    "a bad subnet fails the whole call; there is no error set",
  "a misshapen id is InvalidInstanceID.Malformed": "ids are not parsed: NotFound for any",
  "tagging an unknown instance is InvalidInstanceID.NotFound": "tags of unknown resources are accepted",
  "RunInstances with an unknown image is InvalidAMIID.NotFound": "unknown images launch",
  "RunInstances with an unknown instance profile is refused as an invalid parameter": "answers with IAM's error, NoSuchEntity",
  "RunInstances with a subnet of its own is refused when the template has a network interface": "only the request's own interfaces count",
  "the same client token launches one instance only": "RunInstances ignores ClientToken",
  "the status of a running instance is reported, filtered by impairment": "the filters on status are ignored",
  "deleting a launch template that does not exist is an error": "answers MissingParameter when the name is unknown",
  "user data over 16 KiB is refused when the template is made": "user data has no limit",
  "instance types filtered by hardware come in pages of a hundred at most": "MaxResults is ignored",
  "spot prices differ between types and are below on-demand": "every spot price is 0.00001",
  "capacity reservations can be listed when there are none": "not implemented: HTTP 500 with HTML",
  "an unknown placement group is InvalidPlacementGroup.Unknown": "not implemented: HTTP 500 with HTML",
  "SSM: the recommended EKS image is an image that EC2 knows": "EKS image parameters are absent and cannot be put",
  "SSM: the latest Bottlerocket image exists for both architectures": "Bottlerocket parameters are absent and cannot be put",
  "Pricing: on-demand prices of shared instances, as JSON in a list": "GetProducts is not implemented",
  "Pricing: bare metal is listed apart, under dedicated tenancy": "GetProducts is not implemented",
  "Pricing: nothing matches another region's code": "GetProducts is not implemented",
};

function install(): string {
  const server = resolve(HOME, "bin/moto_server");
  if (existsSync(server)) return server;
  process.stderr.write(`installing ${MOTO} into ${HOME}\n`);
  for (const [command, ...args] of [
    ["python3", "-m", "venv", HOME],
    [resolve(HOME, "bin/pip"), "install", "--quiet", MOTO],
  ]) {
    const { status } = spawnSync(command ?? "", args, { stdio: ["ignore", "inherit", "inherit"] });
    if (status !== 0) {
      process.stderr.write(`'${command} ${args.join(" ")}' failed: moto needs python3 with venv and a reachable package index.\n`);
      process.exit(2);
    }
  }
  return server;
}

async function open(): Promise<Target> {
  const port = await freePort();
  const server = spawn(install(), ["-H", "127.0.0.1", "-p", String(port)], { stdio: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  await ready(url, server);
  return {
    url,
    roleName: "KarpenterNodeRole-contract",
    clusterName: "contract",
    kubernetesVersion: "1.36",
    prepare: makeRoleAndCluster,
    close: async () => {
      const gone = new Promise((done) => server.once("exit", done));
      server.kill();
      await gone;
    },
  };
}

async function ready(url: string, server: ChildProcess): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (Date.now() < deadline && server.exitCode === null) {
    const answered = await fetch(`${url}/moto-api/`).then(
      () => true,
      () => false,
    );
    if (answered) return;
    await sleep(100);
  }
  const status = server.exitCode === null ? "" : `, and ended with status ${server.exitCode}`;
  server.kill();
  throw new Error(`moto_server did not answer at ${url} within ${READY_WITHIN_MS / 1000} s${status}.`);
}

async function makeRoleAndCluster({ iam, eks, target, subnets }: ContractWorld): Promise<void> {
  await iam.send(new CreateRoleCommand({ RoleName: target.roleName, AssumeRolePolicyDocument: "{}" }));
  await eks.send(
    new CreateClusterCommand({
      name: target.clusterName,
      version: target.kubernetesVersion,
      roleArn: "arn:aws:iam::123456789012:role/cluster",
      resourcesVpcConfig: { subnetIds: subnets.map(({ SubnetId }) => SubnetId) },
      kubernetesNetworkConfig: { serviceIpv4Cidr: "10.96.0.0/16" },
    }),
  );
}

const contract = ec2Contract("moto", open, { knownGaps: KNOWN_GAPS });
let passed = 0;
let failed = 0;
let gaps = 0;
for (const { name, gap, run } of contract.cases) {
  const error = await run().then(
    () => undefined,
    (caught: unknown) => (caught instanceof Error ? caught.message : String(caught)).split("\n")[0],
  );
  if (error === undefined && gap === undefined) {
    passed += 1;
    process.stdout.write(`pass       ${name}\n`);
  } else if (error !== undefined && gap !== undefined) {
    gaps += 1;
    process.stdout.write(`known gap  ${name}: ${gap}\n`);
  } else {
    failed += 1;
    const why = gap === undefined ? error : "listed as a known gap, and passes: take it off the list";
    process.stdout.write(`FAIL       ${name}: ${why}\n`);
  }
}
await contract.close();
process.stdout.write(`${gaps} known gaps of moto\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;
