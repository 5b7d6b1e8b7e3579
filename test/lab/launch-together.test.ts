import { describe, expect, it } from "vitest";
import type { FleetRequest } from "#core/model/fleet.ts";
import type { WakeUp } from "#core/ports/wake-ups.ts";
import { emptyAnswer } from "#functions/lifecycle/launch/launch.ts";
import type { LabOptions } from "#lab/host.ts";
import type { PortCall } from "#lab/world/intercept.ts";
import { deployment, NODE_CLASS, nodePool, ON_DEMAND } from "../simulation/story.ts";
import {
  alive,
  expectAccountedFor,
  ids,
  MINUTE,
  messages,
  names,
  pass,
  ready,
  records,
  runningPods,
  SECOND,
  scale,
  until,
  usedUp,
} from "../support/lab-story.ts";

const is = (key: string, ...values: string[]) => ({ key, operator: "In", values });
const ZONE = is("topology.kubernetes.io/zone", "us-west-2a");
const STAYS = { disruption: { consolidateAfter: "Never" } };
/** Each pod fills a node. */
const OBJECTS = [
  NODE_CLASS,
  nodePool([ON_DEMAND, is("node.kubernetes.io/instance-type", "c5.large", "m5.large"), ZONE], STAYS),
  deployment(0, { cpu: "1500m" }),
];

/** The requests that EC2 gets, repeated ones included. */
function asked(): { readonly requests: FleetRequest[]; readonly hooks: NonNullable<LabOptions["hooks"]> } {
  const requests: FleetRequest[] = [];
  const before = ({ method, args }: PortCall): undefined => {
    if (method === "launch") requests.push(args[0] as FleetRequest);
  };
  return { requests, hooks: { before } };
}

const GROUP = "karpenter-serverless/launch-group";

describe("NodeClaims of one plan that may become the same machines", () => {
  it("are launched by one call, and each machine gets the tags of its own NodeClaim", async () => {
    const { requests, hooks } = asked();
    const lab = await ready(OBJECTS, { hooks });
    scale(lab, 6);
    await pass(lab, 3 * MINUTE);
    expect(requests.map(({ count }) => count)).toEqual([6]);
    expect(runningPods(lab)).toBe(6);
    await expectAccountedFor(lab, 6);
    for (const { name, uid, instance, schema, launchGroup, dueTags } of await records(lab)) {
      const { tags } = alive(lab).find((one) => one.instance.id === instance?.id)?.instance ?? {};
      expect(tags).toMatchObject({ Name: `default/${name}`, "karpenter.sh/nodeclaim": name, "karpenter-serverless/claim-uid": uid });
      expect([schema, launchGroup, dueTags]).toEqual([1, undefined, undefined]);
    }
    lab.close();
  });

  it("after a sweep the tags of sixty machines are written one after the other, and no request is throttled for it", async () => {
    const delays: (readonly number[])[] = [];
    const before = ({ method, args }: PortCall): undefined => {
      if (method !== "wake") return;
      const looks = (args[0] as readonly WakeUp[]).filter((wakeUp) => wakeUp.kind === "claim" && wakeUp.dueAt === undefined);
      if (looks.length > 10) delays.push(looks.map((look) => ("delayMs" in look && look.delayMs) || 0));
    };
    const pool = (replicas: number) =>
      nodePool([ON_DEMAND, is("node.kubernetes.io/instance-type", "c5.large"), ZONE], { limits: {}, replicas });
    // Machines that join together: the sweep that follows finds all tags to write.
    const lab = await ready([NODE_CLASS, pool(0)], { world: "fast", ec2: {}, settings: { staticCapacity: true }, hooks: { before } });
    lab.world.apply(pool(60));
    await until(lab, () => messages(lab).filter((message) => message === "initialized nodeclaim").length === 60, 3 * MINUTE);
    delays.length = 0;
    await pass(lab, 80 * SECOND);
    expect(delays.length).toBeGreaterThan(0);
    for (const own of delays) expect(new Set(own).size).toBe(own.length);
    expect((await records(lab)).filter(({ dueTags }) => dueTags)).toEqual([]);
    expect(alive(lab).filter(({ instance }) => instance.tags["karpenter.sh/nodeclaim"] === undefined)).toEqual([]);
    expect(lab.requests.counts.get("CreateTags")?.throttled ?? 0).toBe(0);
    lab.close();
  });

  it("fewer than the setting asks for are launched one by one, with their tags from the start", async () => {
    const { requests, hooks } = asked();
    const lab = await ready(OBJECTS, { hooks });
    scale(lab, 4);
    await pass(lab, 3 * MINUTE);
    expect(requests.map(({ count }) => count)).toEqual([undefined, undefined, undefined, undefined]);
    expect(alive(lab).some(({ instance }) => GROUP in instance.tags)).toBe(false);
    lab.close();
  });

  it("those that EC2 had no machine for ask again, together, for what is left", async () => {
    const { requests, hooks } = asked();
    const lab = await ready(OBJECTS, { hooks });
    lab.cloud.outages.push(
      { instanceType: "c5.large", left: 4 },
      { instanceType: "m5.large", left: 0, until: lab.world.clock.now() + 15 * SECOND },
    );
    scale(lab, 7);
    await pass(lab, 6 * MINUTE);
    expect(requests[0]?.count).toBe(7);
    expect(runningPods(lab)).toBe(7);
    await expectAccountedFor(lab, 7);
    lab.close();
  });

  it("one that a user deletes before the answer leaves no machine, and its pod gets another", async () => {
    let deleted = "";
    const lab = await ready(OBJECTS, {
      hooks: {
        before: ({ method }) => {
          if (method !== "launch" || deleted !== "") return undefined;
          [deleted = ""] = names(lab, "NodeClaim");
          lab.world.delete("NodeClaim", deleted);
        },
      },
    });
    scale(lab, 6);
    await pass(lab, 5 * MINUTE);
    expect(names(lab, "NodeClaim")).not.toContain(deleted);
    expect(runningPods(lab)).toBe(6);
    await expectAccountedFor(lab, 6);
    expect(lab.cloud.machines().length).toBeLessThanOrEqual(7);
    lab.close();
  });

  it("one whose NodeClaim cannot be created keeps the others waiting for a moment, and is launched alone", async () => {
    const { requests, hooks } = asked();
    // It is tried again after 2, 4 and 8 s, which is longer than the others wait.
    let refused: string | undefined;
    let refusals = 0;
    const before = (call: PortCall): Promise<undefined> | undefined => {
      const object = call.args[1] as { readonly metadata: { readonly name: string } } | undefined;
      if (call.method === "create" && call.args[0] === "NodeClaim") {
        refused ??= object?.metadata.name;
        if (object?.metadata.name === refused && refusals++ < 3) throw new Error(`the API server did not answer about ${refused}`);
      }
      hooks.before?.(call);
      return undefined;
    };
    const lab = await ready(OBJECTS, { hooks: { before } });
    scale(lab, 6);
    await until(lab, () => requests.length > 0, 20 * SECOND);
    expect(requests[0]?.count).toBe(5);
    await pass(lab, 5 * MINUTE);
    expect(requests.map(({ count }) => count)).toEqual([5, undefined]);
    await expectAccountedFor(lab, 6);
    lab.close();
  });

  it.for([
    { name: "while EC2 lists them", cloudLagMs: 0 },
    { name: "before EC2 lists them", cloudLagMs: 15_000 },
  ])("are not launched twice when the answer is lost and its repetition is answered with nothing $name", async ({ cloudLagMs }) => {
    let launches = 0;
    const after = ({ method }: PortCall): undefined => {
      if (method !== "launch") return;
      launches += 1;
      if (launches === 1) throw new Error("socket hang up");
      if (launches === 2) throw emptyAnswer();
    };
    const lab = await ready(OBJECTS, { hooks: { after }, cloudLagMs });
    scale(lab, 6);
    await pass(lab, 5 * MINUTE);
    expect(launches).toBeGreaterThan(1);
    expect(lab.cloud.machines()).toHaveLength(6);
    expect(runningPods(lab)).toBe(6);
    await expectAccountedFor(lab, 6);
    lab.close();
  });

  it.for([{ awaySeconds: 90 }, { awaySeconds: 400 }])(
    "that EC2's bucket keeps waiting for $awaySeconds s are not launched twice when the answer is lost, and none gives up",
    async ({ awaySeconds }) => {
      const { requests, hooks } = asked();
      let launches = 0;
      let turns = 0;
      const before = (call: PortCall): undefined => {
        hooks.before?.(call);
        if (call.method === "swapPace" && String(call.args[0]).endsWith("/CreateFleet")) turns += 1;
      };
      const after = ({ method }: PortCall): undefined => {
        if (method !== "launch") return;
        launches += 1;
        // The first call launches, and nobody hears of it; EC2 lists its machines half a minute later.
        if (launches <= 2) throw emptyAnswer();
      };
      const lab = await ready(OBJECTS, { hooks: { before, after }, cloudLagMs: 30_000, ec2: {} });
      const until = lab.world.clock.now() + awaySeconds * SECOND;
      const othersAsk = () => usedUp(lab, { tokens: -50, toldUntil: Math.min(until, lab.world.clock.now() + 280 * SECOND) });
      await othersAsk();
      scale(lab, 6);
      while (lab.world.clock.now() < until) {
        await pass(lab, 5 * SECOND);
        if (lab.world.clock.now() < until) await othersAsk();
      }
      expect(turns).toBeLessThan(10);
      await pass(lab, 6 * MINUTE);
      expect(launches).toBeGreaterThan(1);
      expect(lab.cloud.machines()).toHaveLength(6);
      expect(lab.log.map(({ message }) => message)).not.toContain("terminating due to timeout");
      expect(new Set(requests.map(({ clientToken }) => clientToken)).size).toBe(1);
      await expectAccountedFor(lab, 6);
      lab.close();
    },
  );

  it("whose record is lost before its machine is tagged gets it back with its tags", async () => {
    const lab = await ready(OBJECTS);
    scale(lab, 6);
    await until(lab, () => lab.log.some(({ message }) => message === "launched nodeclaim"), 20 * SECOND);
    await pass(lab, 5 * SECOND);
    const before = ids(lab);
    for (const record of await records(lab)) await lab.deps.store.remove(record);
    await pass(lab, 6 * MINUTE);
    expect(ids(lab)).toEqual(before);
    await expectAccountedFor(lab, 6);
    expect(alive(lab).every(({ instance }) => "karpenter-serverless/claim-uid" in instance.tags)).toBe(true);
    lab.close();
  });

  it("whose machine nobody took is collected, and the others stay", async () => {
    const lab = await ready(OBJECTS);
    scale(lab, 6);
    await pass(lab, 3 * MINUTE);
    const [one] = alive(lab);
    const { tags = {}, subnetId = "", instanceType = "", zone = "", imageId = "" } = one?.instance ?? {};
    const { "karpenter.sh/nodeclaim": _, "karpenter-serverless/claim-uid": __, ...shared } = tags;
    const name = "karpenter.k8s.aws/leak";
    await lab.cloud.fleet.ensureLaunchTemplate({
      ...{ name, imageId, userData: "", instanceProfile: "p", securityGroupIds: [], blockDeviceMappings: [], tags: {} },
      metadataOptions: { httpEndpoint: "enabled", httpProtocolIPv6: "disabled", httpPutResponseHopLimit: 1, httpTokens: "required" },
      detailedMonitoring: false,
    });
    const launchTemplates = [{ name, overrides: [{ instanceType, subnetId, zone, imageId, price: 1 }] }];
    const leak = { clientToken: "leak", capacityType: "on-demand", tags: shared, launchTemplates } as const;
    const { instance } = await lab.cloud.fleet.launch(leak);
    expect(ids(lab)).toContain(instance?.id);
    await pass(lab, 8 * MINUTE);
    expect(ids(lab)).not.toContain(instance?.id);
    expect(ids(lab)).toHaveLength(6);
    lab.close();
  });
});
