import { describe, expect, it } from "vitest";
import { type AwsCall, figuresOf, type KubeRequest, type Machine, type PlayedAct, requestTallies } from "./figures.ts";
import { requestsOf } from "./observe.ts";

const HOUR = 3_600_000;
const FROM = 1_000_000;

const machine = (id: string, more: Partial<Machine> = {}): Machine => ({
  ...{ id, type: "m5.large", zone: "us-west-2a", spot: false, usdPerHour: 1, launchedAt: FROM },
  ...more,
});
const call = (seconds: number, more: Partial<AwsCall> = {}): AwsCall => ({
  ...{ time: FROM + seconds * 1_000, service: "ec2", action: "CreateFleet", dryRun: false },
  ...more,
});
const request = (seconds: number, more: Partial<KubeRequest> = {}): KubeRequest => ({
  ...{ time: FROM + seconds * 1_000, verb: "create", resource: "pods/eviction", code: 201 },
  ...more,
});
const act = (more: Partial<PlayedAct> = {}): PlayedAct => ({
  ...{ name: "up", from: FROM, to: FROM + 60_000, paidUntil: FROM + 60_000, waitedPodSeconds: 0, atRest: [] },
  ...more,
});
const figures = (
  played: Partial<PlayedAct>,
  seen: { readonly machines?: readonly Machine[]; readonly calls?: readonly AwsCall[]; readonly requests?: readonly KubeRequest[] },
) => figuresOf(act(played), { machines: [], calls: [], requests: [], ...seen });

describe("the cost of an act", () => {
  it.each([
    ["a machine that was there before and stays is paid for the act", { launchedAt: 0 }, 100],
    ["a machine is paid from its launch", { launchedAt: FROM + HOUR / 4 }, 75],
    ["a machine is paid until it has ended", { launchedAt: 0, endedAt: FROM + HOUR / 2 }, 50],
    ["a machine of an earlier act costs nothing", { launchedAt: 0, endedAt: FROM }, 0],
    ["a machine of a later act costs nothing", { launchedAt: FROM + HOUR }, 0],
  ])("%s", (_, times, cents) => {
    const hour = { to: FROM + HOUR, paidUntil: FROM + HOUR };
    expect(figures(hour, { machines: [machine("i-1", times)] }).cents).toBeCloseTo(cents);
  });

  it("an act that ended early pays its machines until its planned end", () => {
    expect(figures({ to: FROM + 30_000, paidUntil: FROM + HOUR }, { machines: [machine("i-1")] }).cents).toBeCloseTo(100);
  });
});

describe("the figures of an act", () => {
  it("machines are those that were launched in the act, and those that were live at its end", () => {
    const machines = [
      machine("i-old", { launchedAt: FROM - 1 }),
      machine("i-kept", { spot: true, usdPerHour: 0.3 }),
      machine("i-gone", { type: "c5.large", zone: "us-west-2b", endedAt: FROM + 5_000 }),
    ];
    expect(figures({ atRest: ["i-old", "i-kept"] }, { machines })).toMatchObject({
      launched: 2,
      launchedTypes: "1×c5.large@b 1×m5.large/spot@a",
      atRest: 2,
      atRestTypes: "1×m5.large/spot@a 1×m5.large@a",
      usdPerHour: 1.3,
    });
  });

  it("CreateFleet is counted without dry runs and without the calls of other acts", () => {
    const calls = [call(-1), call(1, { dryRun: true }), call(2), call(4), call(5, { action: "DescribeInstances" }), call(60)];
    expect(figures({}, { calls })).toMatchObject({ fleets: 2, firstFleet: 2, lastFleet: 4 });
  });

  it("an act without CreateFleet and without the moment at which all pods run has no such times", () => {
    expect(Object.keys(figures({}, {}))).not.toEqual(expect.arrayContaining(["firstFleet"]));
    expect(figures({}, {}).running).toBeUndefined();
    expect(figures({ runningAt: FROM + 22_000 }, {}).running).toBe(22);
  });

  it("an eviction counts when the API server has accepted it", () => {
    const requests = [request(1), request(2, { code: 429 }), request(3, { resource: "pods" }), request(61)];
    expect(figures({}, { requests }).evicted).toBe(1);
  });
});

describe("requests", () => {
  it("requests are tallied from the first act to the last, the most frequent first", () => {
    const acts = [act(), act({ from: FROM + 60_000, to: FROM + 120_000 })];
    const calls = [call(-1), call(1), call(70, { action: "TerminateInstances" }), call(80), call(90, { dryRun: true }), call(121)];
    const requests = [request(5), request(65, { verb: "list", resource: "pods" }), request(66, { verb: "list", resource: "pods" })];
    const tallies = requestTallies(acts, { machines: [], calls, requests });
    expect(Object.entries(tallies.ec2)).toEqual([
      ["CreateFleet", 2],
      ["TerminateInstances", 1],
      ["CreateFleet (dry run)", 1],
    ]);
    expect(Object.entries(tallies.kube)).toEqual([
      ["list pods", 2],
      ["create pods/eviction", 1],
    ]);
  });

  it("an audit record belongs to the impersonated user, and a watch counts when it begins", () => {
    const record = (more: object): string =>
      JSON.stringify({
        ...{ requestReceivedTimestamp: "2026-01-01T00:00:01.000000Z", stage: "ResponseComplete", verb: "get" },
        ...{ user: { username: "admin" }, objectRef: { resource: "pods" }, responseStatus: { code: 200 } },
        ...more,
      });
    const own = { impersonatedUser: { username: "karpenter" } };
    const lines = [
      record({}),
      record({ ...own, objectRef: { resource: "pods", subresource: "eviction" }, verb: "create" }),
      record({ ...own, verb: "watch", stage: "ResponseStarted" }),
      record({ ...own, verb: "watch" }),
      record({ user: { username: "karpenter" }, objectRef: undefined }),
    ];
    expect(requestsOf(lines, (user) => user === "karpenter").map(({ verb, resource }) => `${verb} ${resource}`)).toEqual([
      "create pods/eviction",
      "watch pods",
      "get other",
    ]);
  });
});
