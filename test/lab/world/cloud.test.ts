import { describe, expect, it } from "vitest";
import { type FleetRequest, instancesOf, type LaunchTemplate } from "#core/model/fleet.ts";
import type { Node } from "#core/model/node.ts";
import { compactRecord } from "#core/offerings/catalogue.ts";
import { NotFoundError, RefusedError, ThrottledError } from "#core/ports/errors.ts";
import type { CloudEvent } from "#lab/world/cloud-events.ts";
import { toRecord } from "#lab/world/machine-facts.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { CATALOGUE, lab, pod } from "./support.ts";

type Lab = ReturnType<typeof lab>;

const USER_DATA = `apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster: {name: lab, apiServerEndpoint: "https://api", certificateAuthority: eA==, cidr: 10.100.0.0/16}
  kubelet:
    config:
      maxPods: 29
      registerWithTaints: [{key: karpenter.sh/unregistered, effect: NoExecute}]
    flags: ['--node-labels="karpenter.sh/nodepool=default"']
`;

const template = (userData = USER_DATA): LaunchTemplate => ({
  name: "lt",
  imageId: "ami-1",
  userData,
  instanceProfile: "p",
  securityGroupIds: ["sg-1"],
  blockDeviceMappings: [],
  metadataOptions: { httpEndpoint: "enabled", httpProtocolIPv6: "disabled", httpPutResponseHopLimit: 1, httpTokens: "required" },
  detailedMonitoring: false,
  tags: {},
});

async function request({ cloud }: Lab, more: Partial<FleetRequest> = {}, types = ["c5.large", "m5.large"]): Promise<FleetRequest> {
  const subnets = await cloud.inventory.subnets([{ tags: { "karpenter.sh/discovery": "any" } }]);
  const overrides = types.flatMap((instanceType) =>
    subnets.map((s) => ({ instanceType, subnetId: s.id, zone: s.zone, imageId: "ami-1", price: 1 })),
  );
  return {
    clientToken: "t1",
    capacityType: "on-demand",
    launchTemplates: [{ name: "lt", overrides }],
    tags: { "eks:eks-cluster-name": "lab", "karpenter.sh/nodepool": "default", "karpenter.k8s.aws/ec2nodeclass": "default" },
    ...more,
  };
}

async function launched(l: Lab, more: Partial<FleetRequest> = {}, types?: string[], userData?: string) {
  await l.cloud.fleet.ensureLaunchTemplate(template(userData));
  return l.cloud.fleet.launch(await request(l, more, types));
}

it("the bill of a spot instance follows the market while it runs", async () => {
  const l = lab();
  const { cloud } = l;
  await launched(l, { capacityType: "spot" }, ["c5.large"]);
  const zone = String(cloud.machines()[0]?.instance.zone);
  const at = (price: number): void => cloud.moveSpotPrices({ "c5.large": { [zone]: price } });
  at(0.04);
  await l.world.clock.run({ until: l.world.clock.now() + 3_600_000 });
  at(0.08);
  const before = cloud.cost();
  await l.world.clock.run({ until: l.world.clock.now() + 3_600_000 });
  expect(cloud.cost() - before).toBeCloseTo(0.08);
  expect(before).toBeCloseTo(0.04);
  await launched(l, { capacityType: "spot", clientToken: "t2" }, ["c5.large"]);
  expect(cloud.machines().map(({ price }) => price)).toEqual([0.08, 0.08]);
});

describe("simulated fleet", () => {
  it("launches the cheapest on-demand type, and the cheapest spot zone", async () => {
    const l = lab();
    expect((await launched(l)).instance).toMatchObject({ instanceType: "c5.large", zone: "us-west-2a" });
    const spot = await launched(l, { clientToken: "t2", capacityType: "spot" });
    expect(spot).toMatchObject({ errors: [], instance: { instanceType: "m5.large", zone: "us-west-2b", capacityType: "spot" } });
  });

  it("returns the same instance for a repeated token, and refuses the token with other parameters", async () => {
    const l = lab();
    const first = await launched(l);
    expect(await launched(l)).toEqual(first);
    expect(l.cloud.machines()).toHaveLength(1);
    await expect(launched(l, { tags: {} })).rejects.toThrow(RefusedError);
    await expect(launched(l, { tags: {} })).rejects.toThrow("IdempotentParameterMismatch");
  });

  it("reports each lack of capacity, and launches the next best type meanwhile", async () => {
    const l = lab();
    l.cloud.outages.push({ instanceType: "c5.large" }, { instanceType: "m5.large", zone: "us-west-2a", until: l.clock.now() + 60_000 });
    const result = await launched(l);
    expect(result.instance).toMatchObject({ instanceType: "m5.large", zone: "us-west-2b" });
    expect(result.errors.map((e) => [e.code, e.instanceType, e.zone])).toEqual([
      ["InsufficientInstanceCapacity", "c5.large", "us-west-2a"],
      ["InsufficientInstanceCapacity", "c5.large", "us-west-2b"],
      ["InsufficientInstanceCapacity", "m5.large", "us-west-2a"],
    ]);
    l.cloud.outages.push({ capacityType: "on-demand", code: "VcpuLimitExceeded" });
    const none = await launched(l, { clientToken: "t2" });
    expect(none.instance).toBeUndefined();
    expect(none.errors).toHaveLength(4);
  });

  it("launches as many as are asked for, and says which offerings gave too few", async () => {
    const l = lab();
    l.cloud.outages.push({ instanceType: "c5.large", left: 2 }, { instanceType: "m5.large", left: 1 });
    const result = await launched(l, { count: 5 });
    expect(instancesOf(result).map(({ instanceType }) => instanceType)).toEqual(["c5.large", "c5.large", "m5.large"]);
    expect(result.errors.map((e) => [e.code, e.instanceType, e.zone])).toEqual([
      ["InsufficientInstanceCapacity", "c5.large", "us-west-2a"],
      ["InsufficientInstanceCapacity", "c5.large", "us-west-2b"],
      ["InsufficientInstanceCapacity", "m5.large", "us-west-2a"],
      ["InsufficientInstanceCapacity", "m5.large", "us-west-2b"],
    ]);
    expect(await launched(l, { count: 5 })).toEqual(result);
    expect(l.cloud.machines()).toHaveLength(3);
  });

  it("refuses an unknown launch template, and every call while throttled", async () => {
    const l = lab();
    await expect(l.cloud.fleet.launch(await request(l))).rejects.toThrow(NotFoundError);
    l.cloud.throttled.push({ from: l.clock.now(), until: l.clock.now() + 1_000 });
    await expect(launched(l)).rejects.toThrow(ThrottledError);
    await l.clock.run({ until: l.clock.now() + 1_000 });
    expect((await launched(l)).instance).toBeDefined();
  });

  it("runs out of addresses in a subnet", async () => {
    const l = lab();
    for (const subnet of l.cloud.subnets) subnet.availableIps = 1;
    await launched(l);
    await launched(l, { clientToken: "t2" });
    expect((await launched(l, { clientToken: "t3" })).errors[0]?.code).toBe("InsufficientFreeAddressesInSubnet");
  });

  it("boots a machine that joins with its user data, becomes ready, and registers its devices last", async () => {
    const l = lab();
    const { instance } = await launched(l, {}, ["m5.large"]);
    const id = instance?.id ?? "";
    expect((await l.cloud.fleet.describe([id, "i-unknown"])).map((i) => i.state)).toEqual(["pending"]);
    await l.clock.run({ until: l.clock.now() + 19_000 });
    expect((await l.cloud.fleet.describe([id])).map((i) => i.state)).toEqual(["running"]);
    expect(await l.kubernetes.list("Node")).toEqual([]);
    await l.clock.run({ until: () => l.world.store.list("Node").length === 1 });
    const [fresh] = (await l.kubernetes.list("Node")) as [Node];
    expect(fresh.spec.taints?.map((t) => t.key)).toEqual([
      "node.cloudprovider.kubernetes.io/uninitialized",
      "node.kubernetes.io/not-ready",
      "karpenter.sh/unregistered",
    ]);
    await l.clock.run({ idle: 30_000 });
    const [ready] = (await l.kubernetes.list("Node")) as [Node];
    expect(ready).toMatchObject({
      spec: { providerID: `aws:///us-west-2a/${id}`, taints: [{ key: "karpenter.sh/unregistered" }] },
      status: { allocatable: { cpu: "1930m", memory: `${6903 * 1024}Ki`, pods: "29", "vpc.amazonaws.com/pod-eni": "9" } },
      metadata: {
        labels: {
          "karpenter.sh/nodepool": "default",
          "node.kubernetes.io/instance-type": "m5.large",
          "topology.kubernetes.io/zone": "us-west-2a",
          "topology.k8s.aws/zone-id": "usw2-az2",
          "topology.ebs.csi.aws.com/zone": "us-west-2a",
        },
      },
    });
  });

  it("a machine whose user data are for Windows joins as a Windows node", async () => {
    const l = lab();
    const script = "& $EKSBootstrapScriptFile -EKSClusterName 'lab' -APIServerEndpoint 'https://api' -Base64ClusterCA 'eA=='";
    await launched(l, {}, ["m5.large"], `<powershell>\n${script}\n</powershell>`);
    await l.clock.run({ until: () => l.world.store.list("Node").length === 1 });
    expect((await l.kubernetes.list("Node"))[0]?.metadata.labels?.["kubernetes.io/os"]).toBe("windows");
  });

  it("a machine with wrong user data never joins, and the world notes why", async () => {
    const l = lab();
    await launched(l, {}, undefined, USER_DATA.replace("name: lab", "name: other"));
    await l.clock.run({ until: l.clock.now() + 120_000 });
    expect(await l.kubernetes.list("Node")).toEqual([]);
    expect(l.world.notes).toMatchObject([{ what: "failed to join", why: 'the user data is for cluster "other", not "lab"' }]);
  });

  it("interrupts a spot instance: a notice, its end after two minutes with its node, and an event for each state", async () => {
    const l = lab();
    const events: CloudEvent[] = [];
    l.cloud.onEvent((e) => events.push(e));
    const { instance } = await launched(l, { capacityType: "spot" });
    const id = instance?.id ?? "";
    await l.clock.run({ idle: 30_000 });
    l.cloud.interruptSpot(id);
    const start = l.clock.now();
    await l.clock.run({ until: start + 119_000 });
    expect((await l.cloud.fleet.list("lab")).map((i) => i.state)).toEqual(["running"]);
    await l.clock.run({ until: start + 200_000 });
    expect(await l.cloud.fleet.list("lab")).toEqual([]);
    expect(await l.kubernetes.list("Node")).toEqual([]);
    expect(events.map((e) => e.detail["state"] ?? e["detail-type"])).toEqual([
      "pending",
      "running",
      "EC2 Spot Instance Interruption Warning",
      "shutting-down",
      "terminated",
    ]);
    expect(events[2]).toMatchObject({ version: "0", source: "aws.ec2", detail: { "instance-id": id, "instance-action": "terminate" } });
    expect(() => l.cloud.interruptSpot(id)).toThrow(`there is no running instance "${id}"`);
  });

  it("a second Node of a machine goes with the machine, and one that is Ready stays", async () => {
    const l = lab();
    const { instance } = await launched(l, {});
    await l.clock.run({ idle: 30_000 });
    const [node] = await l.kubernetes.list("Node");
    const twin = (name: string): ApiObject => ({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name },
      spec: { providerID: node?.spec.providerID },
    });
    // The world makes a kubelet for a Node that a user applies.
    l.world.store.create(twin("silent"), { user: "somebody" });
    l.world.apply(twin("steady"));
    await l.clock.run({ until: l.clock.now() + 30_000 });
    expect(await l.kubernetes.list("Node")).toHaveLength(3);
    await l.cloud.fleet.terminate(instance?.id ?? "");
    await l.clock.run({ until: l.clock.now() + 120_000 });
    expect((await l.kubernetes.list("Node")).map(({ metadata }) => metadata.name)).toEqual(["steady"]);
  });

  it("counts the cost of an instance from its launch to its termination", async () => {
    const l = lab();
    const { instance } = await launched(l, {}, ["m5.large"]);
    await l.clock.run({ until: l.clock.now() + 1_800_000 });
    expect(l.cloud.pricePerHour()).toBe(0.096);
    await l.cloud.fleet.terminate(instance?.id ?? "");
    await l.cloud.fleet.terminate("i-unknown");
    await l.clock.run({ until: l.clock.now() + 1_800_000 });
    expect(l.cloud.pricePerHour()).toBe(0);
    expect(l.cloud.cost()).toBeCloseTo(0.048, 9);
    expect(l.cloud.costs()).toMatchObject([{ instanceType: "m5.large", seconds: 1_800 }]);
  });

  it("has pods on a machine only after its unregistered taint is removed", async () => {
    const l = lab();
    l.world.apply(pod("p"));
    await launched(l);
    await l.clock.run({ idle: 60_000 });
    const [node] = (await l.kubernetes.list("Node")) as [Node];
    expect((await l.kubernetes.get("Pod", "p", "default"))?.spec.nodeName).toBeUndefined();
    await l.kubernetes.update("Node", { ...node, spec: { ...node.spec, taints: [] } });
    await l.clock.run({ idle: 10_000 });
    expect((await l.kubernetes.get("Pod", "p", "default"))?.status?.phase).toBe("Running");
  });
});

describe("simulated inventory", () => {
  it("returns the records from which the catalogue was made", async () => {
    for (const type of CATALOGUE.types) {
      const limits = { ...(type.podEni !== undefined && { podEni: type.podEni }) };
      expect(compactRecord(toRecord(type), limits, type.zones)).toEqual(type);
    }
  });

  it("finds the images of EKS's parameters and of no others", async () => {
    const { cloud } = lab();
    const id = await cloud.inventory.parameter("/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/arm64/standard/recommended/image_id");
    expect(id).toMatch(/^ami-[0-9a-f]{17}$/);
    expect(await cloud.inventory.images([{ id: id ?? "" }])).toMatchObject([
      { id, architecture: "arm64", name: "amazon-eks-node-al2023-arm64-standard-1.36-lab" },
    ]);
    expect(
      await cloud.inventory.parameter("/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/arm64/neuron/recommended/image_id"),
    ).toBeUndefined();
    expect(await cloud.inventory.parameter("/my/parameter")).toBeUndefined();
  });

  it("finds subnets and security groups for every selector but an empty one", async () => {
    const { cloud } = lab();
    const [first] = cloud.subnets;
    expect(await cloud.inventory.subnets([{ id: first?.id ?? "" }])).toHaveLength(1);
    expect(await cloud.inventory.subnets([{ tags: { team: "x" } }])).toHaveLength(2);
    expect(await cloud.inventory.subnets([])).toEqual([]);
    expect(await cloud.inventory.securityGroups([{ name: "mine" }])).toHaveLength(1);
    expect(await cloud.inventory.securityGroups([])).toEqual([]);
  });
});
