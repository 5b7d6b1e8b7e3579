import { CLAIM_UID_TAG, CLUSTER_TAG, NODE_CLAIM_TAG } from "#core/model/tags.ts";
import { apply, applyPool, manifest, neverConsolidated, nodeClaim, nodeClass, PATIENTLY, reset, scale } from "../arrange.ts";
import { STACK } from "../deployment.ts";
import { type FakeInstance, type FakeSubnet, FIRST_HOST, VPC } from "../fake-aws/world.ts";
import { alive, callsSince, hasCondition, initialized, LONG, lastCall, list, MINUTE, machinesOf, running } from "../observe.ts";
import { check, expect, figure } from "../report.ts";
import { CLUSTER, REGION } from "../stage.ts";
import { eventually } from "../support/wait.ts";
import type { E2eWorld } from "../world.ts";
import { launchEachFamily, makeClasses, removeClasses } from "./families.ts";

// Failures of EC2 and IAM during a launch. The NodeClaims have no NodePool: each names its own machine and is not
// consolidated.

/** Empty pools, throttles, full subnets, lost answers and orphans, and then every AMI family. */
export async function awsStory(world: E2eWorld): Promise<void> {
  await world.registerWebhook();
  await check("EC2NodeClasses of five AMI families become Ready, each with an instance profile for its role", () => makeClasses(world));
  await check("a NodeClaim of each family becomes a node, from its own image, user data and disks", () => launchEachFamily(world));
  await check("the three cheapest offerings have no capacity: the fourth is bought, and the next launch leaves them alone", () =>
    passOverEmptyPools(world),
  );
  await check("CreateFleet and DescribeInstances are throttled beyond the SDK's patience: one machine, only later", () =>
    outlastThrottles(world),
  );
  await check("a subnet that has run out of addresses is passed over for another of its zone", () => passOverFullSubnet(world));
  await check("a launch whose answer is lost is repeated under its client token, and its machine adopted", () => adoptLostLaunch(world));
  await check("a machine of ours that no claim owns is ended, another cluster's is not", () => collectStranger(world));
  await check("deleted EC2NodeClasses outlive their machines, and take their instance profiles along", () => removeClasses(world));
  await check("another AMI version makes a node drift, and another takes its pods", () => rollToAnotherImage(world));
  await check("all pods gone, all machines gone", async () => {
    await reset(world);
    await world.removeWebhook();
  });
}

/** No other story launches types of this family, because the marks of the empty pools outlast the check. */
async function passOverEmptyPools(world: E2eWorld): Promise<void> {
  const { faults, fleets } = world.fake.state;
  const zones = ["a", "b", "c"].map((letter) => `${REGION}${letter}`);
  const ids = zones.map((zone) => faults.add({ action: "CreateFleet", ice: { instanceType: "t3.large", zone } }));
  const wanted = { "node.kubernetes.io/instance-type": ["t3.large", "t3.xlarge"], "topology.kubernetes.io/zone": zones };
  const before = fleets.size;
  await apply(world, nodeClaim("scarce", "al2023", wanted));
  // The marks expire after three minutes, so the next launch starts as soon as they exist and not when the node has
  // joined.
  await hasCondition(world, "scarce", "Launched");
  const refused = [...fleets.values()].slice(before).flatMap(({ answer }) => answer.Errors ?? []);
  const codes = refused.map(({ ErrorCode }) => ErrorCode);
  expect(codes.join() === Array(3).fill("InsufficientInstanceCapacity").join(), () => codes.join() || "no refusal");
  const subnets = new Set(refused.map(({ LaunchTemplateAndOverrides: tried }) => tried?.Overrides?.SubnetId));
  expect(subnets.size === 3, () => `refusals in ${subnets.size} zones`);
  for (const id of ids) faults.remove(id);
  const after = lastCall(world);
  await apply(world, nodeClaim("scarce-too", "al2023", wanted));
  const { instanceType } = await initialized(world, "scarce");
  expect(instanceType === "t3.xlarge", () => instanceType);
  await initialized(world, "scarce-too");
  const asked = JSON.stringify(callsSince(world, after, "CreateFleet").map(({ params }) => params));
  expect(asked.includes('"t3.xlarge"') && !asked.includes('"t3.large"'), () => asked);
}

/** More than the SDK's five attempts, so that whole invocations fail. */
const BEYOND_RETRIES = 6;

async function outlastThrottles(world: E2eWorld): Promise<void> {
  const { faults } = world.fake.state;
  const after = lastCall(world);
  const from = Date.now();
  for (const action of ["CreateFleet", "DescribeInstances"]) faults.add({ action, throttle: true, times: BEYOND_RETRIES });
  await apply(world, nodeClaim("throttled", "al2023", {}));
  await eventually("all throttles are used up", () => faults.list().length === 0, { timeoutMs: LONG });
  await initialized(world, "throttled");
  figure(`throttling: from a NodeClaim to its node, ${BEYOND_RETRIES} CreateFleet refused`, Date.now() - from);
  for (const action of ["CreateFleet", "DescribeInstances"]) {
    const throttles = callsSince(world, after, action).filter(({ outcome }) => outcome === "RequestLimitExceeded");
    expect(throttles.length === BEYOND_RETRIES, () => `${throttles.length} throttles of ${action}`);
  }
}

const TAGS = { "e2e/subnets": "two of one zone" };
const ZONE = `${REGION}a`;

/** Adds two subnets in one zone with different numbers of free addresses. */
function addSubnets({ fake }: E2eWorld): readonly [FakeSubnet, FakeSubnet] {
  const subnet = (id: string, cidr: string, freeAddresses: number): FakeSubnet => {
    const zoneId = fake.state.options.catalogue.zones.find(({ name }) => name === ZONE)?.zoneId ?? "";
    const addresses = { freeAddresses, used: new Set<number>(), nextHost: FIRST_HOST };
    return { id, cidr, ...addresses, zone: ZONE, zoneId, vpcId: VPC, tags: new Map(Object.entries(TAGS)) };
  };
  const roomy = subnet("subnet-0e2e0000000000001", "10.9.0.0/24", 200);
  const small = subnet("subnet-0e2e0000000000002", "10.9.1.0/24", 100);
  for (const made of [roomy, small]) fake.state.subnets.set(made.id, made);
  return [roomy, small];
}

async function passOverFullSubnet(world: E2eWorld): Promise<void> {
  const { faults, fleets } = world.fake.state;
  const [roomy, small] = addSubnets(world);
  await apply(world, nodeClass("subnets", { amiSelectorTerms: [{ alias: "al2023@latest" }], subnetSelectorTerms: [{ tags: TAGS }] }));
  await world.cluster.kubectl("wait", "--for=condition=Ready", "ec2nodeclass/subnets", PATIENTLY);
  // Others take the last addresses between the choice of the subnet and the launch, so that no earlier read could show
  // it.
  const takeAll = faults.add({
    action: "CreateFleet",
    match: () => {
      roomy.freeAddresses = 0;
      return false;
    },
  });
  const before = fleets.size;
  await apply(world, nodeClaim("crowded", "subnets", {}));
  const machine = await initialized(world, "crowded");
  faults.remove(takeAll);
  expect(machine.subnetId === small.id, () => machine.subnetId);
  const refused = [...fleets.values()].slice(before).flatMap(({ answer }) => answer.Errors ?? []);
  const codes = refused.map(({ ErrorCode }) => ErrorCode).join();
  expect(codes === "InsufficientFreeAddressesInSubnet", () => codes || "no refusal");
  await world.cluster.kubectl("delete", "nodeclaim", "crowded", PATIENTLY);
  await world.cluster.kubectl("delete", "ec2nodeclass", "subnets", PATIENTLY);
  for (const { id } of [roomy, small]) world.fake.state.subnets.delete(id);
}

async function adoptLostLaunch(world: E2eWorld): Promise<void> {
  const after = lastCall(world);
  world.fake.faults.add({ action: "CreateFleet", dropConnectionAfterEffect: true, times: BEYOND_RETRIES });
  await apply(world, nodeClaim("lost", "al2023", {}));
  const machine = await initialized(world, "lost");
  const calls = callsSince(world, after, "CreateFleet");
  const dropped = calls.filter(({ outcome }) => outcome === "dropped");
  expect(dropped.length === BEYOND_RETRIES && calls.at(-1)?.outcome === "ok", () => calls.map(({ outcome }) => outcome).join());
  const tokens = new Set(calls.map(({ params }) => params["ClientToken"]));
  expect(tokens.size === 1, () => `${tokens.size} client tokens`);
  const uid = machine.tags.get(CLAIM_UID_TAG);
  const ever = [...world.fake.state.instances.values()].filter(({ tags }) => tags.get(CLAIM_UID_TAG) === uid);
  expect(ever.length === 1, () => `${ever.length} machines were launched`);
}

/**
 * Both instances equal one of ours except for the address, and are older than the time after which an orphan is
 * collected.
 */
async function collectStranger(world: E2eWorld): Promise<void> {
  const { instances, id: fresh } = world.fake.state;
  const [ours] = machinesOf(world, "lost");
  if (ours === undefined) throw new Error("there is no machine to take after");
  const twin = (changed: Readonly<Record<string, string>>): FakeInstance => {
    const tags = new Map([...ours.tags, [NODE_CLAIM_TAG, "nobody"], [CLAIM_UID_TAG, "nobody"], ...Object.entries(changed)]);
    return { ...ours, id: fresh("i"), privateIp: "10.0.31.254", launchTime: Date.now() - 10 * MINUTE, tags };
  };
  const stranger = twin({});
  const foreign = twin({ [CLUSTER_TAG]: "another" });
  foreign.tags.delete(`kubernetes.io/cluster/${CLUSTER}`);
  const kept = alive(world);
  const after = lastCall(world);
  for (const made of [stranger, foreign]) instances.set(made.id, made);
  await eventually("the stranger ends", () => stranger.state === "terminated", { timeoutMs: LONG });
  expect(
    [...kept, foreign].every(({ state }) => state === "running"),
    () => "a machine ended that has an owner or is not ours",
  );
  const ended = callsSince(world, after, "TerminateInstances").map(({ role, params }) => `${role} ${String(params["InstanceIds"])}`);
  expect(ended.length > 0 && ended.every((call) => call === `${STACK}-lifecycle ${stranger.id}`), () => ended.join("; ") || "no call");
  instances.delete(foreign.id);
}

async function rollToAnotherImage(world: E2eWorld): Promise<void> {
  const version = (date: string) => (text: string) => text.replace("al2023@latest", `al2023@${date}`);
  await applyPool(world, "default", neverConsolidated, version("v20260901"));
  await apply(world, manifest("inflate-cpu"));
  await scale(world, "inflate", 1);
  await running(world, "default", 1);
  const [old] = alive(world);
  const imageOf = (machine: FakeInstance | undefined) => world.fake.state.images.get(machine?.imageId ?? "")?.name ?? "";
  expect(imageOf(old).endsWith("-v20260901"), () => imageOf(old));
  const from = Date.now();
  await applyPool(world, "default", neverConsolidated, version("v20261105"));
  await eventually(
    "the claim says AMIDrift",
    async () => (await list(world, "nodeclaims")).some(({ status }) => status?.conditions?.some(({ reason }) => reason === "AMIDrift")),
    { timeoutMs: LONG },
  );
  await eventually("the old machine ends", () => old?.state === "terminated", { timeoutMs: LONG });
  figure("AMI drift: from another version in the EC2NodeClass to the old machine's end", Date.now() - from);
  await running(world, "default", 1);
  const [next, ...others] = alive(world);
  expect(others.length === 0 && imageOf(next).endsWith("-v20261105"), () => `${imageOf(next)} and ${others.length} others`);
}
