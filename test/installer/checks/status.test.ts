import { describe, expect, it } from "vitest";
import { keepCircuits } from "#adapters/store/circuit-breaker.ts";
import { span } from "#installer/checks/ago.ts";
import { compared } from "#installer/checks/stack.ts";
import { status } from "#installer/checks/status.ts";
import { VERSION } from "#settings/version.ts";
import { SECRET } from "../install/world.ts";
import { claim, Installed, minutesAgo, nodeClass, pool, timeOf, waitingPod } from "./world.ts";

const OPTIONS = { cluster: "c1", region: "us-west-2", stackName: "karpenter-serverless", json: false };
const run = (world: Installed, json = false) => status({ ...OPTIONS, json }, world.installationPorts());

const set = (world: Installed, changed: Partial<Installed>): void => void Object.assign(world, changed);

describe("status", () => {
  it("says which reason the circuit breaker holds, and how a person ends it", async () => {
    const world = new Installed();
    const open = { until: Date.now() + 10 ** 12, trips: 1, why: "only 50 % are as well", moved: {}, pools: ["default"], reset: "" };
    const breaker = { moves: [], open: { "NodePool/default/Drifted": open }, proven: {}, lost: {} };
    await keepCircuits("c1", breaker, world.records, 1);
    const { output, isUsable } = await run(world);
    expect(isUsable).toBe(true);
    expect(output).toMatch(
      /note {3}circuit breaker: Disruption reason Drifted is held for NodePool\/default until .*: only 50 % are as well;/,
    );
    expect(output).toMatch(/kubectl annotate nodepool default karpenter-serverless\/circuit-reset=\d+ --overwrite ends it/);
  });

  it("an installation that works is told on one screen, and is exit code 0", async () => {
    const { output, isUsable } = await run(new Installed());
    expect(isUsable).toBe(true);
    expect(output.split("\n")).toEqual([
      `ok     stack: karpenter-serverless ${VERSION} (UPDATE_COMPLETE)`,
      "ok     functions: 6 without an error in the last hour",
      "ok     dead-letter queues: 5, all empty",
      "ok     sweep: provision 60 s ago, lifecycle 60 s ago, disruption 60 s ago, catalog 60 s ago",
      `ok     prices: as of ${timeOf(minutesAgo(120))}`,
      "ok     notify: the webhook calls the stack's URL",
      "ok     Karpenter: none runs in the cluster",
      "ok     NodePools: 1 Ready (default)",
      "ok     EC2NodeClasses: 1 Ready (default)",
      "ok     NodeClaims: 0 with a node",
      "ok     pods: none waits for a node",
      "cluster c1 in us-west-2: healthy",
      "",
    ]);
  });

  it.for<{ says: string; isHealthy?: boolean; breaks: (world: Installed) => void }>([
    { says: "FAULT  stack: there is no stack karpenter-serverless", breaks: (world) => set(world, { stack: undefined }) },
    {
      says: "FAULT  stack: karpenter-serverless is ROLLBACK_COMPLETE",
      breaks: (world) => set(world, { stack: { status: "ROLLBACK_COMPLETE", templateUrl: "", outputs: world.outputs } }),
    },
    {
      says: "FAULT  stack: karpenter-serverless serves c2 and not c1",
      breaks: (world) =>
        set(world, { stack: { status: "UPDATE_COMPLETE", templateUrl: "", outputs: { ...world.outputs, Clusters: "c2" } } }),
    },
    {
      says: "is older than this program",
      isHealthy: true,
      breaks: (world) =>
        set(world, { stack: { status: "UPDATE_COMPLETE", templateUrl: "", outputs: { ...world.outputs, Version: "0.0.1" } } }),
    },
    {
      says: "is newer than this program",
      isHealthy: true,
      breaks: (world) =>
        set(world, { stack: { status: "UPDATE_COMPLETE", templateUrl: "", outputs: { ...world.outputs, Version: "99.0.0" } } }),
    },
    {
      says: "FAULT  provision: 3 min ago: AccessDenied",
      breaks: (world) => void world.errors.set("karpenter-serverless-provision", { at: minutesAgo(3), message: "AccessDenied" }),
    },
    {
      says: "note   provision: 30 min ago: throttled",
      isHealthy: true,
      breaks: (world) => void world.errors.set("karpenter-serverless-provision", { at: minutesAgo(30), message: "throttled" }),
    },
    {
      says: "FAULT  dead-letter queues: work was given up: claims 2",
      breaks: (world) => void world.depths.set("https://sqs/1/ClaimsDeadLetters", 2),
    },
    {
      says: "FAULT  sweep: karpenter-serverless-provision-sweep is disabled",
      breaks: (world) => void world.disabled.add("karpenter-serverless-provision-sweep"),
    },
    { says: "FAULT  sweep: no sweep of provision, lifecycle", breaks: (world) => set(world, { sweptAt: undefined }) },
    ...["sweep: the stack is young", "prices: the stack is young"].map((says) => ({
      says: `note   ${says}`,
      isHealthy: true,
      breaks: (world: Installed) => set(world, { sweptAt: undefined, prices: undefined, createdAt: minutesAgo(2) }),
    })),
    { says: "FAULT  prices: the catalog function has written no", breaks: (world) => set(world, { prices: undefined }) },
    { says: "FAULT  prices: instance types and prices are 4 d old", breaks: (world) => set(world, { prices: timeOf(minutesAgo(5_800)) }) },
    {
      says: "FAULT  notify: no webhook is registered",
      breaks: (world) => void world.objects.delete("ValidatingWebhookConfiguration/karpenter-serverless-notify"),
    },
    {
      says: "FAULT  notify: the webhook calls another URL",
      breaks: (world) =>
        set(world, {
          stack: {
            status: "UPDATE_COMPLETE",
            templateUrl: "",
            outputs: { ...world.outputs, NotifyUrl: "https://new.example" },
          },
        }),
    },
    {
      says: "note   Karpenter: Karpenter runs (Lease kube-system/k)",
      isHealthy: true,
      breaks: (world) => set(world, { karpenter: "kube-system/k" }),
    },
    {
      says: "FAULT  NodePools: there is none",
      breaks: (world) => void world.objects.delete("NodePool/default"),
    },
    {
      says: "FAULT  NodePool gpu: not Ready: NodeClassReady: no such class",
      breaks: (world) =>
        world.put(
          pool("gpu", [
            { type: "NodeClassReady", status: "False", message: "no such class" },
            { type: "Ready", status: "False" },
          ]),
        ),
    },
    {
      says: "note   NodePool night: NodePool sleeps until 06:00",
      isHealthy: true,
      breaks: (world) => {
        world.put(
          pool("night", [
            { type: "Asleep", status: "True", message: "NodePool sleeps until 06:00" },
            { type: "Ready", status: "True" },
          ]),
        );
        world.put(waitingPod("web", minutesAgo(11)));
      },
    },
    { says: "FAULT  EC2NodeClass new: not Ready: no function has looked", breaks: (world) => world.put(nodeClass("new", [])) },
    {
      says: "note   pods: 1 wait for a node: shop/web 40 s",
      isHealthy: true,
      breaks: (world) => world.put(waitingPod("web", minutesAgo(40 / 60))),
    },
    { says: "FAULT  pods: 1 wait for a node: shop/web 11 min", breaks: (world) => world.put(waitingPod("web", minutesAgo(11))) },
    {
      says: "note   NodeClaims: 1 on their way: default-1 2 min Launched",
      isHealthy: true,
      breaks: (world) => world.put(claim("default-1", minutesAgo(2), [{ type: "Launched", status: "True" }])),
    },
    { says: "FAULT  NodeClaims: 1 on their way: default-1 16 min", breaks: (world) => world.put(claim("default-1", minutesAgo(16), [])) },
  ])("status tells what does not work: $says", async ({ says, isHealthy = false, breaks }) => {
    const world = new Installed();
    breaks(world);
    const { output, isUsable } = await run(world);
    expect(output).toContain(says);
    expect(isUsable).toBe(isHealthy);
  });

  it("kube-scheduler is named where it fills nodes", async () => {
    const ports = new Installed().installationPorts();
    const cluster = async (name: string) => ({ ...(await ports.account.cluster(name)), scoring: "MostAllocated" });
    const { output, isUsable } = await status(OPTIONS, { ...ports, account: { ...ports.account, cluster } });
    expect(output).toContain("note   kube-scheduler: scores nodes by MostAllocated; doctor says what follows\n");
    expect(isUsable).toBe(true);
  });

  it("a NodeClaim with an initialized node is not on its way", async () => {
    const world = new Installed();
    world.put(claim("default-1", minutesAgo(60), [{ type: "Initialized", status: "True" }]));
    expect((await run(world)).output).toContain("ok     NodeClaims: 1 with a node");
  });

  it("an answer that may not be read is noted and makes nothing unhealthy", async () => {
    const world = new Installed();
    const ports = world.installationPorts();
    const denied = async () => {
      throw new Error("AccessDenied: not authorized.");
    };
    const inspector = { ...ports.inspector, lastError: denied, depth: denied, metric: denied, pricesAsOf: denied };
    const { output, isUsable } = await status(OPTIONS, { ...ports, inspector });
    expect(isUsable).toBe(true);
    for (const name of ["provision", "dead-letter queues", "sweep", "prices"])
      expect(output).toContain(`note   ${name}: not checked: AccessDenied: not authorized`);
  });

  it("--json has the verdicts and what was read, and the secret of the webhook's path in neither form", async () => {
    const { output } = await run(new Installed(), true);
    expect(JSON.parse(output)).toMatchObject({
      ...{ cluster: "c1", region: "us-west-2", healthy: true },
      checks: expect.arrayContaining([{ name: "dead-letter queues", level: "ok", text: "5, all empty" }]),
      observed: { objects: { value: { pools: [{ name: "default", isReady: true }] } } },
    });
    expect(output + (await run(new Installed())).output).not.toContain(SECRET);
  });

  it("without valid credentials status ends with one sentence, because nothing could be told", async () => {
    const ports = new Installed().installationPorts({ caller: async () => Promise.reject(new Error("expired")) });
    await expect(status(OPTIONS, ports)).rejects.toThrow("AWS does not accept your credentials (expired); sign in");
  });

  it.for([
    { ms: 500, says: "0 s" },
    { ms: 119_000, says: "119 s" },
    { ms: 120_000, says: "2 min" },
    { ms: 7_200_000, says: "2 h" },
    { ms: 172_800_000, says: "2 d" },
    { ms: -3_000, says: "0 s" },
  ])("$ms ms are $says", ({ ms, says }) => {
    expect(span(ms)).toBe(says);
  });

  it("versions are compared by numbers", () => {
    expect(compared("0.10.0", "0.9.1")).toBeGreaterThan(0);
    expect(compared("1.0.0", "1.0.1")).toBeLessThan(0);
    expect(compared("1.2.3-rc.1", "1.2.3")).toBe(0);
  });
});
