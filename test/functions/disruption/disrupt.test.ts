import { expect, it } from "vitest";
import { disrupt } from "#functions/disruption/disrupt.ts";
import { readLastPass } from "#functions/disruption/wake-times.ts";
import type { PortCall } from "#lab/world/intercept.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { deployment, FAMILIES, NODE_CLASS, nodePool, ON_DEMAND, openLab } from "../../simulation/story.ts";

const MINUTE_MS = 60_000;

/** A lab, and the calls of disruption. */
function recordedLab() {
  const calls: PortCall[] = [];
  const lab = openLab(1, {
    before: (call) => {
      if (call.invocation?.name === "disruption") calls.push(call);
      return undefined;
    },
  });
  return { lab, calls };
}

const inWords = (calls: readonly PortCall[]): readonly string[] => calls.map(({ method, args }) => `${method} ${args[0]}`);

/** The same with two nodes, each full with its pod. */
async function twoFullNodes(disruption: object) {
  const { lab, calls } = recordedLab();
  const small = { key: "node.kubernetes.io/instance-type", operator: "In", values: ["c5.large"] };
  const pool = nodePool([ON_DEMAND, FAMILIES, small], { disruption });
  for (const object of [NODE_CLASS, pool, deployment(2, { cpu: "1500m" })]) lab.world.apply(object);
  await lab.world.clock.run({ until: lab.world.clock.now() + 5 * MINUTE_MS });
  return { lab, pool, calls };
}

/** A NodePool with its EC2NodeClass, and a Deployment whose pod fills a node of it. */
function poolWithPod(name: string, generation: string): readonly ApiObject[] {
  const small = { key: "node.kubernetes.io/instance-type", operator: "In", values: ["c5.large"] };
  const pool = nodePool([ON_DEMAND, FAMILIES, small], { disruption: { consolidateAfter: "Never", budgets: [{ nodes: "2" }] } });
  const { template, ...spec } = pool["spec"] as { readonly template: { readonly spec: { readonly nodeClassRef: object } } };
  const nodeClassRef = { ...template.spec.nodeClassRef, name };
  const labelled = { spec: { ...template.spec, nodeClassRef }, metadata: { labels: { team: name, generation } } };
  const made = deployment(1, { cpu: "1500m" });
  const { template: podTemplate, ...rest } = made["spec"] as { readonly template: { readonly spec: object } };
  const labels = { app: name };
  const own = { metadata: { labels }, spec: { ...podTemplate.spec, nodeSelector: { team: name } } };
  return [
    { ...NODE_CLASS, metadata: { ...NODE_CLASS.metadata, name } },
    { ...pool, metadata: { name }, spec: { ...spec, template: labelled } },
    { ...made, metadata: { name, namespace: "default" }, spec: { ...rest, selector: { matchLabels: labels }, template: own } },
  ];
}

/** Two nodes of two NodePools, each full with its pod, that drift at once. */
async function callsWhileTwoDrift(): Promise<readonly PortCall[]> {
  const { lab, calls } = recordedLab();
  const { clock } = lab.world;
  const apply = (generation: string): void => {
    for (const name of ["one", "two"]) for (const object of poolWithPod(name, generation)) lab.world.apply(object);
  };
  apply("1");
  await clock.run({ until: clock.now() + 5 * MINUTE_MS });
  apply("2");
  await clock.run({ until: clock.now() + 10 * MINUTE_MS });
  lab.close();
  return calls;
}

it("the next decision of a pass sees the replacements that the same pass wrote", async () => {
  const calls = await callsWhileTwoDrift();
  const passes = [...Map.groupBy(calls, ({ invocation }) => invocation?.id).values()].map((pass) => pass.map(({ method }) => method));
  const both = passes.filter((methods) => methods.includes("writeIntents") && methods.includes("createCommand"));
  expect(both.length).toBeGreaterThan(0);
  for (const methods of both) {
    const between = methods.slice(methods.indexOf("writeIntents"), methods.indexOf("createCommand"));
    expect(between).toContain("list");
  }
});

it("what users are told is written when the lease is given back, so that it keeps no decision waiting", async () => {
  const calls = await callsWhileTwoDrift();
  const passes = [...Map.groupBy(calls, ({ invocation }) => invocation?.id).values()].map((pass) => pass.map(({ method }) => method));
  // Later passes carry out the command, and its marks and events are part of that.
  const first = passes.slice(0, passes.findIndex((methods) => methods.includes("createCommand")) + 1);
  const told = (methods: readonly string[]) => methods.filter((method) => method === "publish" || method === "updateStatus");
  expect(first.flatMap((methods) => told(methods.slice(0, methods.indexOf("releaseLease"))))).toEqual([]);
  expect(new Set(told(first.flat()))).toEqual(new Set(["publish", "updateStatus"]));
});

/** Empties two nodes, and plays until both are gone. */
async function passesWhileTwoEmpty(): Promise<readonly (readonly string[])[]> {
  const { lab, calls } = await twoFullNodes({ consolidateAfter: "5s", budgets: [{ nodes: "1" }] });
  const { clock } = lab.world;
  calls.length = 0;
  lab.world.scale("Deployment", "default", "inflate", 0);
  await clock.run({ until: clock.now() + 2 * MINUTE_MS });
  expect(lab.world.store.list("Node")).toEqual([]);
  lab.close();
  return [...Map.groupBy(calls, ({ invocation }) => invocation?.id).values()].map(inWords);
}

it("nothing is read between a decision and its validation, and a command ends in the pass that ends its NodeClaims", async () => {
  const passes = await passesWhileTwoEmpty();
  const indexOf = (method: string, from = 0) => passes.findIndex((calls, i) => i >= from && calls.some((call) => call.startsWith(method)));
  const decided = indexOf("createCommand");
  const ended = indexOf("removeCommand");
  expect(decided).toBeGreaterThanOrEqual(0);
  expect(ended).toBeGreaterThan(decided);
  expect(
    passes
      .slice(decided + 1, ended)
      .flat()
      .filter((call) => call === "list Node"),
  ).toEqual([]);
  expect(passes[ended]?.some((call) => call.startsWith("updateCommand"))).toBe(true);
});

it.for([
  { left: "none is left", pods: 0, reads: false },
  { left: "others are left", pods: 1, reads: true },
])("after the end of a node, of which $left, the cluster is read: $reads", async ({ pods, reads }) => {
  const { lab, calls } = recordedLab();
  const { clock } = lab.world;
  for (const object of [NODE_CLASS, nodePool([ON_DEMAND, FAMILIES]), deployment(pods, { cpu: "1" })]) lab.world.apply(object);
  // Between two sweeps.
  await clock.run({ until: clock.now() + 3.4 * MINUTE_MS });
  calls.length = 0;
  await lab.deps.wakeUps.wake([{ kind: "disruption", cluster: lab.deps.cluster.name, cause: "NodesRemoved" }]);
  await clock.run({ until: clock.now() + 5_000 });
  lab.close();
  expect(inWords(calls).some((call) => call.startsWith("commands"))).toBe(true);
  expect(inWords(calls).includes("list Node")).toBe(reads);
});

/** A Deployment whose pod runs on nodes of the NodePool of the same name. */
const deploymentOf = (pool: string) =>
  JSON.parse(
    JSON.stringify(deployment(1, { cpu: "1500m" }))
      .replaceAll('"inflate"', `"${pool}"`)
      .replace('"containers"', `"nodeSelector":{"karpenter.sh/nodepool":"${pool}"},"containers"`),
  );

it("the NodePools that a pass has no time for come first in the next pass", async () => {
  const { lab } = recordedLab();
  const small = { key: "node.kubernetes.io/instance-type", operator: "In", values: ["c5.large"] };
  lab.world.apply(NODE_CLASS);
  for (const name of ["x", "y"]) {
    lab.world.apply({ ...nodePool([ON_DEMAND, FAMILIES, small]), metadata: { name } });
    lab.world.apply(deploymentOf(name));
  }
  await lab.world.clock.run({ until: lab.world.clock.now() + 5 * MINUTE_MS });
  /** A pass whose clock jumps past its time when it has been asked so often. */
  const unseenAfter = async (asks: number): Promise<readonly string[] | undefined> => {
    let asked = 0;
    const now = (): number => lab.world.clock.now() + (++asked > asks ? 11_000 : 0);
    await disrupt({ cause: "Sweep" }, { ...lab.deps, now });
    return (await readLastPass(lab.deps))?.unseenPools;
  };
  let asks = 0;
  let unseen: readonly string[] | undefined = [];
  for (; asks < 100 && unseen?.length !== 1; asks++) unseen = await unseenAfter(asks);
  expect(await unseenAfter(asks - 1)).toEqual(unseen?.includes("x") ? ["y"] : ["x"]);
  expect(await unseenAfter(Number.POSITIVE_INFINITY)).toEqual([]);
  lab.close();
});
