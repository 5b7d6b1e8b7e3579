import { describe, expect, it } from "vitest";
import type { Condition } from "#core/model/kubernetes.ts";
import { RefusedError } from "#core/ports/errors.ts";
import { emptyAnswer } from "#functions/lifecycle/launch/launch.ts";
import { createLab, type Lab, type LabOptions } from "#lab/host.ts";
import type { PortCall } from "#lab/world/intercept.ts";
import type { SimulatedSubnet } from "#lab/world/inventory.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { FAMILIES, NODE_CLASS, nodePool, ON_DEMAND } from "../simulation/story.ts";
import {
  alive,
  expectAccountedFor,
  INFLATE,
  ids,
  line,
  MINUTE,
  messages,
  names,
  OPTIONS,
  POOL,
  pass,
  podsOf,
  ready,
  records,
  running,
  runningPods,
  SECOND,
  SPOT_POOL,
  scale,
  start,
} from "../support/lab-story.ts";

/** Makes a launch template without user data: its instances never join. */
function makeTemplate(lab: Lab, name: string): Promise<void> {
  const metadataOptions = { httpEndpoint: "enabled", httpProtocolIPv6: "disabled", httpPutResponseHopLimit: 1, httpTokens: "required" };
  const nothing = { userData: "", instanceProfile: "", securityGroupIds: [], blockDeviceMappings: [], detailedMonitoring: false, tags: {} };
  return lab.cloud.fleet.ensureLaunchTemplate({ name, imageId: "ami-0", metadataOptions, ...nothing });
}

const BY_HAND: ApiObject = {
  apiVersion: "karpenter.sh/v1",
  kind: "NodeClaim",
  metadata: { name: "by-hand" },
  spec: claimSpec([ON_DEMAND, { key: "node.kubernetes.io/instance-type", operator: "In", values: ["m5.large"] }]),
};

function claimSpec(requirements: readonly object[]): object {
  const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };
  return { requirements, resources: { requests: { cpu: "1" } }, nodeClassRef, expireAfter: "Never" };
}

describe("changes that a user makes to NodeClaims, Nodes and NodePools", () => {
  it.for([
    { name: "with its instance type", claim: BY_HAND, want: "m5.large" },
    {
      name: "with a family only, so the cheapest that holds its requests",
      claim: { ...BY_HAND, spec: claimSpec([ON_DEMAND, FAMILIES]) },
      want: "c5.large",
    },
  ])("a NodeClaim made by hand, $name, becomes a node", async ({ claim, want }) => {
    const lab = await ready([NODE_CLASS]);
    lab.world.apply(claim as ApiObject);
    await pass(lab, 3 * MINUTE);
    await expectAccountedFor(lab, 1);
    expect(alive(lab)[0]?.instance.instanceType).toBe(want);
    expect(messages(lab)).toContain("initialized nodeclaim");
    lab.close();
  });

  it.for(["nodeclaim", "node"])("deleting the %s of a NodeClaim made by hand removes claim, node and instance", async (kind) => {
    const lab = await ready([NODE_CLASS]);
    lab.world.apply(BY_HAND);
    await pass(lab, 2 * MINUTE);
    const [node = ""] = names(lab, "Node");
    if (kind === "node") lab.world.delete("Node", node);
    else lab.world.delete("NodeClaim", "by-hand");
    await pass(lab, 2 * MINUTE);
    await expectAccountedFor(lab, 0);
    lab.close();
  });

  it("the pods of a deleted NodeClaim get another node, and the old node is drained first", async () => {
    const lab = await running(2);
    const [before] = ids(lab);
    lab.world.delete("NodeClaim", names(lab, "NodeClaim")[0] ?? "");
    await pass(lab, 3 * MINUTE);
    expect(runningPods(lab)).toBe(2);
    await expectAccountedFor(lab, 1);
    expect(ids(lab)).not.toContain(before);
    expect(line(lab, "deleted nodeclaim")?.fields).toMatchObject({ reason: "deleted" });
    lab.close();
  });

  it("a deleted Node is drained, its instance is terminated, and its pods get another node", async () => {
    const lab = await running(2);
    const [before] = ids(lab);
    lab.world.delete("Node", names(lab, "Node")[0] ?? "");
    await pass(lab, 3 * MINUTE);
    expect(runningPods(lab)).toBe(2);
    await expectAccountedFor(lab, 1);
    expect(ids(lab)).not.toContain(before);
    expect(messages(lab)).toEqual(expect.arrayContaining(["tainted node", "deleted node", "deleted nodeclaim"]));
    lab.close();
  });

  it("a NodeClaim made by hand carries the label of its class, and so does its node", async () => {
    const lab = await ready([NODE_CLASS]);
    lab.world.apply(BY_HAND);
    await pass(lab, 2 * MINUTE);
    for (const kind of ["NodeClaim", "Node"]) {
      expect(lab.world.store.list(kind)[0]?.metadata.labels).toMatchObject({ "karpenter.k8s.aws/ec2nodeclass": "default" });
    }
    lab.close();
  });

  it("a node whose instance and NodeClaim were removed by force is deleted", async () => {
    const lab = await running(2, [NODE_CLASS, POOL, INFLATE], { sources: [] });
    const [claim = ""] = names(lab, "NodeClaim");
    const [machine = ""] = ids(lab);
    scale(lab, 0);
    lab.cloud.kill(machine);
    for (const record of await records(lab)) await lab.deps.store.remove(record);
    lab.world.store.patch("NodeClaim", claim, undefined, { user: "kubernetes-admin" }, (object) => {
      object.metadata.finalizers = [];
      return object;
    });
    lab.world.delete("NodeClaim", claim);
    await pass(lab, 5 * MINUTE);
    await expectAccountedFor(lab, 0);
    lab.close();
  });

  it("the nodes of a deleted NodePool are removed, and their pods stay pending", async () => {
    const lab = await running(2);
    lab.world.delete("NodePool", "default");
    await pass(lab, 3 * MINUTE);
    await expectAccountedFor(lab, 0);
    expect(runningPods(lab)).toBe(0);
    lab.close();
  });

  it("the instance of a NodeClaim whose finalizers were removed by force is terminated", async () => {
    const lab = await running(2, [NODE_CLASS, POOL, INFLATE], { sources: [] });
    const [name = ""] = names(lab, "NodeClaim");
    const [before] = ids(lab);
    lab.world.store.patch("NodeClaim", name, undefined, { user: "kubernetes-admin" }, (claim) => {
      claim.metadata.finalizers = [];
      return claim;
    });
    lab.world.delete("NodeClaim", name);
    await pass(lab, 6 * MINUTE);
    expect(ids(lab)).not.toContain(before);
    expect(runningPods(lab)).toBe(2);
    lab.close();
  });

  it("a foreign finalizer on a NodeClaim causes no further writes or calls", async () => {
    const lab = await running(2);
    const [name = ""] = names(lab, "NodeClaim");
    lab.world.store.patch("NodeClaim", name, undefined, { user: "kubernetes-admin" }, (claim) => {
      claim.metadata.finalizers = [...(claim.metadata.finalizers ?? []), "example.com/audit"];
      return claim;
    });
    scale(lab, 0);
    lab.world.delete("NodeClaim", name);
    await pass(lab, 3 * MINUTE);
    expect(ids(lab)).toEqual([]);
    expect(names(lab, "NodeClaim")).toEqual([name]);
    const runs = lab.invocations.get("lifecycle") ?? 0;
    await pass(lab, 5 * MINUTE);
    expect((lab.invocations.get("lifecycle") ?? 0) - runs).toBeLessThanOrEqual(12);
    expect(messages(lab).filter((message) => message === "deleted nodeclaim")).toHaveLength(1);
    lab.close();
  });
});

describe("expiry and drift", () => {
  it("an expired node is replaced, and its pods move", async () => {
    const pool = nodePool([ON_DEMAND, FAMILIES]);
    const spec = pool["spec"] as { template: { spec: object } };
    const short = { ...pool, spec: { ...spec, template: { spec: { ...spec.template.spec, expireAfter: "10m" } } } };
    const lab = await running(2, [NODE_CLASS, short, INFLATE]);
    const [before] = ids(lab);
    await pass(lab, 11 * MINUTE);
    expect(ids(lab)).not.toContain(before);
    await expectAccountedFor(lab, 1);
    expect(runningPods(lab)).toBe(2);
    expect(line(lab, "deleting expired nodeclaim")).toBeDefined();
    expect(line(lab, "deleted nodeclaim")?.fields).toMatchObject({ reason: "expired" });
    lab.close();
  });

  it("a change of a NodePool makes its nodes drift, and they are replaced one by one", async () => {
    const lab = await running(2);
    const [before] = ids(lab);
    const pool = nodePool([ON_DEMAND, FAMILIES]);
    const spec = pool["spec"] as { template: object };
    lab.world.apply({ ...pool, spec: { ...spec, template: { ...spec.template, metadata: { labels: { team: "blue" } } } } });
    await pass(lab, 5 * MINUTE);
    expect(ids(lab)).not.toContain(before);
    await expectAccountedFor(lab, 1);
    expect(runningPods(lab)).toBe(2);
    expect(lab.world.store.list("Node")[0]?.metadata.labels).toMatchObject({ team: "blue" });
    expect(messages(lab).some((message) => message.startsWith("disrupting nodeclaim(s) via replace"))).toBe(true);
    lab.close();
  });
});

describe("failures of EC2", () => {
  it("a launch avoids the zone or instance type without capacity", async () => {
    const lab = await ready([NODE_CLASS, POOL, INFLATE]);
    lab.cloud.outages.push({ zone: "us-west-2a" }, { instanceType: "c5.large" }, { instanceType: "c5.xlarge" });
    scale(lab, 2);
    await pass(lab, 2 * MINUTE);
    expect(runningPods(lab)).toBe(2);
    await expectAccountedFor(lab, 1);
    lab.close();
  });

  it("without any capacity the NodeClaim ends with an event, and its pods are planned again once capacity may be back", async () => {
    const lab = await ready([NODE_CLASS, POOL, INFLATE]);
    lab.cloud.outages.push({ until: lab.world.clock.now() + 2 * MINUTE });
    scale(lab, 2);
    await pass(lab, 2 * MINUTE);
    expect(ids(lab)).toEqual([]);
    const told = lab.world.events.filter(({ reason }) => reason === "InsufficientCapacityError");
    expect(new Set(told.map(({ about }) => about.kind))).toEqual(new Set(["NodeClaim", "Pod"]));
    expect(told.find(({ about }) => about.kind === "Pod")?.message).toMatch(
      /^NodeClaim \S+ nominated for this pod failed to launch: .*InsufficientInstanceCapacity/,
    );
    expect(await records(lab)).toEqual([]);
    // An offering without capacity is avoided for three minutes, so EC2 gets few requests.
    expect(lab.calls.get("fleet.launch")).toBeLessThan(12);
    await pass(lab, 4 * MINUTE);
    expect(runningPods(lab)).toBe(2);
    await expectAccountedFor(lab, 1);
    lab.close();
  });

  it("a quota is named on NodeClaim and pod, and its pods are planned again in the moment in which the marks end", async () => {
    const lab = await ready([NODE_CLASS, POOL, INFLATE]);
    const conditions: Condition[] = [];
    lab.world.store.onChange(({ object }) => {
      if (object.kind === "NodeClaim")
        conditions.push(...((object["status"] as { conditions?: Condition[] } | undefined)?.conditions ?? []));
    });
    lab.cloud.outages.push({ until: lab.world.clock.now() + 2 * MINUTE, code: "VcpuLimitExceeded" });
    scale(lab, 2);
    await pass(lab, MINUTE);
    const said = (reason: string) => lab.world.events.findLast((event) => event.reason === reason)?.message ?? "";
    for (const text of [
      said("FailedScheduling"),
      said("InsufficientCapacityError"),
      conditions.findLast(({ type, message }) => type === "Launched" && message !== "")?.message ?? "",
    ]) {
      expect(text).toContain("EC2 says VcpuLimitExceeded");
      expect(text).toContain("L-1216C47A");
      expect(text).not.toContain("allow more types");
    }
    const marks = await lab.deps.store.unavailable(lab.world.cluster, lab.world.clock.now());
    const end = Math.min(...marks.map(({ expiresAt }) => expiresAt));
    const launches = lab.calls.get("fleet.launch");
    await pass(lab, end - lab.world.clock.now() - SECOND);
    expect(lab.calls.get("fleet.launch")).toBe(launches);
    await pass(lab, 5 * SECOND);
    expect(lab.calls.get("fleet.launch")).toBe((launches ?? 0) + 1);
    lab.close();
  });

  it("a subnet without free addresses is avoided for another subnet of its zone, without repeated launches", async () => {
    const lab = createLab(OPTIONS);
    const first = [...lab.cloud.subnets];
    const second = first.map((subnet) => ({ ...subnet, id: `${subnet.id}-b`, availableIps: subnet.availableIps - 1 }));
    (lab.cloud.subnets as SimulatedSubnet[]).push(...second);
    await start(lab, [NODE_CLASS, POOL, INFLATE]);
    for (const subnet of first) subnet.availableIps = 0;
    scale(lab, 2);
    await pass(lab, 2 * MINUTE);
    expect(runningPods(lab)).toBe(2);
    expect(lab.calls.get("fleet.launch")).toBeLessThan(6);
    lab.close();
  });

  it("a launch that EC2 refuses is shown on the NodeClaim, and tried again after a user has fixed its cause", async () => {
    let refused = true;
    const before = ({ method }: { readonly method: string }): undefined => {
      if (refused && method === "ensureLaunchTemplate") throw new RefusedError("UnauthorizedOperation: You are not authorized");
    };
    const lab = await ready([NODE_CLASS, POOL, INFLATE], { hooks: { before } });
    scale(lab, 2);
    await pass(lab, 30 * SECOND);
    const { conditions = [] } = (lab.world.store.list("NodeClaim")[0]?.status ?? {}) as { conditions?: readonly Condition[] };
    expect(conditions.find(({ type }) => type === "Launched")).toMatchObject({ status: "Unknown", reason: "Unauthorized" });
    expect(line(lab, "failed launching nodeclaim")?.level).toBe("error");
    refused = false;
    await pass(lab, 2 * MINUTE);
    expect(runningPods(lab)).toBe(2);
    await expectAccountedFor(lab, 1);
    lab.close();
  });

  it("a NodeClaim that cannot be launched is deleted after five minutes, and another is created for its pods", async () => {
    const before = ({ method }: { readonly method: string }): undefined => {
      if (method === "launch") throw new RefusedError("InternalError: An internal error has occurred");
    };
    const lab = await ready([NODE_CLASS, POOL, INFLATE], { hooks: { before } });
    scale(lab, 2);
    await pass(lab, 3 * SECOND);
    const [first] = names(lab, "NodeClaim");
    // For a minute after its last try the launch may have succeeded unseen.
    await pass(lab, 6 * MINUTE + 20 * SECOND);
    expect(line(lab, "terminating due to timeout")?.fields).toMatchObject({ reason: "launch_timeout", timeout: "5m" });
    expect(names(lab, "NodeClaim")).toHaveLength(1);
    expect(names(lab, "NodeClaim")).not.toContain(first);
    lab.close();
  });

  it("an instance that never registers is terminated after fifteen minutes, and another is launched", async () => {
    let deaf = true;
    const mishear = ({ method, args }: PortCall): undefined => {
      const [request] = args as readonly { launchTemplates: readonly object[] }[];
      if (deaf && method === "launch" && request)
        request.launchTemplates = request.launchTemplates.map((template) => ({ ...template, name: "deaf" }));
    };
    const lab = await ready([NODE_CLASS, POOL, INFLATE], { hooks: { before: mishear } });
    await makeTemplate(lab, "deaf");
    scale(lab, 2);
    await pass(lab, 10 * SECOND);
    const [before] = ids(lab);
    await pass(lab, 14 * MINUTE);
    expect(ids(lab)).toEqual([before]);
    deaf = false;
    await pass(lab, 4 * MINUTE);
    expect(ids(lab)).not.toContain(before);
    expect(line(lab, "terminating due to timeout")?.fields).toMatchObject({ reason: "registration_timeout" });
    expect(runningPods(lab)).toBe(2);
    await expectAccountedFor(lab, 1);
    lab.close();
  });

  it("a minute of throttling costs time, but no instance is launched twice or lost", async () => {
    const lab = await ready([NODE_CLASS, POOL, INFLATE]);
    const now = lab.world.clock.now();
    lab.cloud.throttled.push({ from: now, until: now + MINUTE });
    scale(lab, 2);
    await pass(lab, 4 * MINUTE);
    expect(runningPods(lab)).toBe(2);
    expect(lab.cloud.machines()).toHaveLength(1);
    await expectAccountedFor(lab, 1);
    lab.close();
  });

  it("an instance without a NodeClaim is garbage collected", async () => {
    const lab = await running(2);
    const [machine] = alive(lab);
    if (machine === undefined) throw new Error("there is no machine");
    const { instanceType, subnetId = "", zone, imageId, capacityType, tags } = machine.instance;
    await makeTemplate(lab, "orphan");
    const overrides = [{ instanceType, subnetId, zone, imageId, price: 1 }];
    const launchTemplates = [{ name: "orphan", overrides }];
    const orphan = { ...tags, "karpenter.sh/nodeclaim": "nobody", "karpenter-serverless/claim-uid": "nobody" };
    await lab.cloud.fleet.launch({ clientToken: "orphan", capacityType, launchTemplates, tags: orphan });
    expect(ids(lab)).toHaveLength(2);
    await pass(lab, 4 * MINUTE);
    expect(ids(lab)).toHaveLength(2);
    await pass(lab, 3 * MINUTE);
    expect(ids(lab)).toEqual([machine.instance.id]);
    expect(messages(lab)).toContain("garbage collected cloudprovider instance");
    lab.close();
  });

  it("an instance that will be retired is drained and replaced, but one with a rebalance recommendation stays", async () => {
    const lab = await running(2, [NODE_CLASS, SPOT_POOL, INFLATE]);
    const [before = ""] = ids(lab);
    lab.cloud.recommendRebalance(before);
    await pass(lab, 2 * MINUTE);
    expect(ids(lab)).toEqual([before]);
    lab.cloud.scheduleRetirement(before);
    await pass(lab, 4 * MINUTE);
    expect(ids(lab)).not.toContain(before);
    expect(runningPods(lab)).toBe(2);
    await expectAccountedFor(lab, 1);
    const published = lab.world.events.map(({ reason }) => reason);
    expect(published).toEqual(expect.arrayContaining(["SpotRebalanceRecommendation", "InstanceUnhealthy", "TerminatingOnInterruption"]));
    lab.close();
  });

  it.for([
    { name: "with an event from EventBridge", tells: true },
    { name: "without an event", tells: false },
  ])("an instance that another user terminates is replaced, $name", async ({ tells }) => {
    const lab = await running(2);
    const [before = ""] = ids(lab);
    if (!tells) lab.wakeUps.interruption.faults.lose = () => true;
    lab.cloud.kill(before);
    await pass(lab, 6 * MINUTE);
    expect(ids(lab)).not.toContain(before);
    await expectAccountedFor(lab, 1);
    expect(runningPods(lab)).toBe(2);
    lab.close();
  });

  it.for([
    { name: "stops, with an event from EventBridge", act: "powerOff", isUp: true, tells: true },
    { name: "stops, without an event", act: "powerOff", isUp: true, tells: false },
    { name: "stops before its node joins, without an event", act: "powerOff", isUp: false, tells: false },
    { name: "terminates before its node joins, without an event", act: "kill", isUp: false, tells: false },
  ] as const)("an instance that another user $name, is replaced within four minutes", async ({ act, isUp, tells }) => {
    const lab = await running(0);
    scale(lab, 2);
    await pass(lab, isUp ? 2 * MINUTE : 10 * SECOND);
    expect(names(lab, "Node")).toHaveLength(isUp ? 1 : 0);
    const [before = ""] = ids(lab);
    if (!tells) lab.wakeUps.interruption.faults.lose = () => true;
    lab.cloud[act](before);
    await pass(lab, 4 * MINUTE);
    expect(ids(lab)).not.toContain(before);
    await expectAccountedFor(lab, 1);
    expect(runningPods(lab)).toBe(2);
    lab.close();
  });
});

/** The Deployment with annotations on its pods and, if asked for, a grace period. */
function annotated(annotations: Readonly<Record<string, string>>): ApiObject {
  const spec = INFLATE["spec"] as { template: { metadata: object } };
  const template = { ...spec.template, metadata: { ...spec.template.metadata, annotations } };
  return { ...INFLATE, spec: { ...spec, template } };
}

const budget = (maxUnavailable: number): ApiObject => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name: "inflate", namespace: "default" },
  spec: { maxUnavailable, selector: { matchLabels: { app: "inflate" } } },
});

describe("a killed invocation", () => {
  it("an instance that its record does not name yet is not launched a second time", async () => {
    let killed = false;
    const hooks: LabOptions["hooks"] = {
      after: ({ method, args }) => {
        const [written] = args as readonly { readonly instance?: object }[];
        if (killed || method !== "update" || written?.instance === undefined) return undefined;
        killed = true;
        return "kill";
      },
    };
    const lab = await ready([NODE_CLASS, POOL, INFLATE], { hooks });
    scale(lab, 2);
    await pass(lab, 5 * SECOND);
    expect(killed).toBe(true);
    await lab.deps.wakeUps.wake([{ kind: "provision", cluster: lab.world.cluster, cause: "NodePoolReady", detail: "default" }]);
    await pass(lab, 3 * MINUTE);
    expect(lab.cloud.machines()).toHaveLength(1);
    expect(runningPods(lab)).toBe(2);
    lab.close();
  });
});

describe("a failed invocation", () => {
  it.for([
    { name: "for longer than EC2 may take to list its instance", cloudLagMs: 0, refusedMs: 100 * SECOND },
    { name: "before EC2 lists its instance", cloudLagMs: 30_000, refusedMs: 5 * SECOND },
  ])("a launch whose answer was lost is not made again when its repetition is refused $name", async ({ cloudLagMs, refusedMs }) => {
    let launches = 0;
    let refusing = true;
    const hooks: LabOptions["hooks"] = {
      before: ({ method }) => {
        if (method === "launch" && launches > 0 && refusing) throw new RefusedError("UnauthorizedOperation: not authorized");
        return undefined;
      },
      after: ({ method }) => {
        if (method === "launch" && launches++ === 0) throw new Error("socket hang up");
        return undefined;
      },
    };
    const lab = await ready([NODE_CLASS, POOL, INFLATE], { hooks, cloudLagMs });
    scale(lab, 2);
    await pass(lab, 5 * SECOND);
    const [claim = ""] = names(lab, "NodeClaim");
    await lab.deps.wakeUps.wake([{ kind: "claim", cluster: lab.world.cluster, claim }]);
    await pass(lab, refusedMs);
    refusing = false;
    await pass(lab, 3 * MINUTE);
    expect(lab.cloud.machines()).toHaveLength(1);
    expect(runningPods(lab)).toBe(2);
    lab.close();
  });

  it("a launch that succeeds only at its repetition, with its answer lost, is not made again when the next one is refused", async () => {
    const times: number[] = [];
    let lab: Lab | undefined;
    const sinceFirst = (): number => (lab?.world.clock.now() ?? 0) - (times[0] ?? 0);
    const hooks: LabOptions["hooks"] = {
      before: ({ method }) => {
        if (method !== "launch") return undefined;
        times.push(lab?.world.clock.now() ?? 0);
        if (times.length === 1) throw new Error("connect ECONNREFUSED");
        if (times.length > 2 && sinceFirst() < 80 * SECOND) throw new RefusedError("UnauthorizedOperation");
        return undefined;
      },
      after: ({ method }) => {
        if (method === "launch" && times.length === 2) throw new Error("socket hang up");
        return undefined;
      },
    };
    lab = await ready([NODE_CLASS, POOL, INFLATE], { hooks, cloudLagMs: 30_000 });
    scale(lab, 2);
    await pass(lab, 5 * SECOND);
    const [claim = ""] = names(lab, "NodeClaim");
    for (let i = 0; i < 12; i++) {
      await pass(lab, 5 * SECOND);
      // Only shortly before EC2 must list what the first call could have launched.
      if (sinceFirst() > 45 * SECOND) await lab.deps.wakeUps.wake([{ kind: "claim", cluster: lab.world.cluster, claim }]);
    }
    await pass(lab, 4 * MINUTE);
    expect(times.length).toBeGreaterThan(3);
    expect(lab.cloud.machines()).toHaveLength(1);
    expect(runningPods(lab)).toBe(2);
    lab.close();
  });

  it.for([
    { name: "while EC2 lists its instance", cloudLagMs: 0 },
    { name: "before EC2 lists its instance", cloudLagMs: 15_000 },
  ])("a launch whose answer was lost is not made again when its repetition is answered with nothing $name", async ({ cloudLagMs }) => {
    let launches = 0;
    const hooks: LabOptions["hooks"] = {
      after: ({ method }) => {
        if (method !== "launch") return undefined;
        launches += 1;
        if (launches === 1) throw new Error("socket hang up");
        if (launches === 2) throw emptyAnswer();
        return undefined;
      },
    };
    const lab = await ready([NODE_CLASS, POOL, INFLATE], { hooks, cloudLagMs });
    scale(lab, 2);
    await pass(lab, 5 * SECOND);
    const [claim = ""] = names(lab, "NodeClaim");
    await lab.deps.wakeUps.wake([{ kind: "claim", cluster: lab.world.cluster, claim }]);
    await pass(lab, 3 * MINUTE);
    expect(launches).toBeGreaterThan(1);
    expect(lab.cloud.machines()).toHaveLength(1);
    expect(runningPods(lab)).toBe(2);
    lab.close();
  });

  it("an interruption notice that could not be handled is handled again while there is time to drain", async () => {
    let failures = 0;
    const before = ({ method, invocation }: PortCall): undefined => {
      if (invocation?.name === "interruption" && method === "byInstance" && failures++ === 0) throw new Error("the table did not answer");
    };
    const lab = await running(2, [NODE_CLASS, SPOT_POOL, INFLATE], { hooks: { before } });
    const [noticed = ""] = ids(lab);
    failures = 0;
    lab.cloud.interruptSpot(noticed);
    await pass(lab, 110 * SECOND);
    expect(failures).toBeGreaterThan(1);
    const on = podsOf(lab).filter(
      ({ spec }) => spec?.nodeName === lab.cloud.machines().find(({ instance }) => instance.id === noticed)?.nodeName,
    );
    expect(on).toEqual([]);
    expect(runningPods(lab)).toBe(2);
    lab.close();
  });
});

describe("blocked evictions", () => {
  it("do-not-disrupt blocks consolidation, but not an interruption", async () => {
    const lab = await running(7, [NODE_CLASS, SPOT_POOL, annotated({ "karpenter.sh/do-not-disrupt": "true" })]);
    const before = ids(lab);
    scale(lab, 1);
    await pass(lab, 5 * MINUTE);
    expect(ids(lab)).toEqual(before.filter((id) => ids(lab).includes(id)));
    const [kept = ""] = ids(lab);
    expect(runningPods(lab)).toBe(1);
    lab.cloud.interruptSpot(kept);
    await pass(lab, 4 * MINUTE);
    expect(ids(lab)).not.toContain(kept);
    expect(runningPods(lab)).toBe(1);
    lab.close();
  });

  it("a PodDisruptionBudget that allows no eviction blocks a drain until it allows one", async () => {
    const lab = await running(2, [NODE_CLASS, POOL, INFLATE, budget(0)]);
    const [before] = ids(lab);
    lab.world.delete("NodeClaim", names(lab, "NodeClaim")[0] ?? "");
    await pass(lab, 5 * MINUTE);
    expect(ids(lab)).toContain(before);
    expect(runningPods(lab)).toBe(2);
    expect(lab.world.events.map(({ reason }) => reason)).toContain("FailedDraining");
    lab.world.apply(budget(1));
    await pass(lab, 3 * MINUTE);
    expect(ids(lab)).not.toContain(before);
    expect(runningPods(lab)).toBe(2);
    await expectAccountedFor(lab, 1);
    lab.close();
  });

  it("terminationGracePeriod ends a drain that a PodDisruptionBudget blocks", async () => {
    const pool = nodePool([ON_DEMAND, FAMILIES]);
    const spec = pool["spec"] as { template: { spec: object } };
    const graceful = { ...pool, spec: { ...spec, template: { spec: { ...spec.template.spec, terminationGracePeriod: "2m" } } } };
    const lab = await running(2, [NODE_CLASS, graceful, INFLATE, budget(0)]);
    const [before] = ids(lab);
    lab.world.delete("NodeClaim", names(lab, "NodeClaim")[0] ?? "");
    await pass(lab, 110 * SECOND);
    expect(ids(lab)).toContain(before);
    await pass(lab, 40 * SECOND);
    expect(ids(lab)).not.toContain(before);
    expect(lab.world.events.map(({ reason }) => reason)).toEqual(expect.arrayContaining(["TerminationGracePeriodExpiring", "Disrupted"]));
    lab.close();
  });
});
