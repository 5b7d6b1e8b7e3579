import { afterEach, describe, expect, it } from "vitest";
import { sentenceOf } from "#core/insight/history/sentence.ts";
import type { Pause } from "#core/model/pause.ts";
import { pauseDocument, pauseJson } from "#core/pause/pause.ts";
import type { Lab, LabOptions } from "#lab/host.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { FAMILIES, NODE_CLASS, nodePool, ON_DEMAND } from "../simulation/story.ts";
import {
  alive,
  INFLATE,
  MINUTE,
  names,
  POOL,
  pass,
  reasons,
  running,
  runningPods,
  SECOND,
  SPOT_POOL,
  scale,
  until,
} from "../support/lab-story.ts";

let lab: Lab | undefined;
afterEach(() => {
  lab?.close();
  lab = undefined;
});

const configMap = (data: Readonly<Record<string, string>>): ApiObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "karpenter-serverless-pause", namespace: "kube-system" },
  data,
});

const byKubectl = ({ world }: Lab, data: Readonly<Record<string, string>>): void => void world.apply(configMap(data));
const resumeByKubectl = ({ world }: Lab): void => void world.delete("ConfigMap", "karpenter-serverless-pause", "kube-system");

async function byCommand({ deps, world }: Lab, fields: Partial<Pause> | undefined): Promise<void> {
  const at = world.clock.now();
  const pause: Pause | undefined = fields && { source: "table", at, by: "arn:aws:iam::111122223333:user/alice", reason: "AMI", ...fields };
  await deps.store.putDocument(pauseDocument(world.cluster), Buffer.from(pauseJson(pause)), String(at));
}

interface Act {
  readonly at: number;
  readonly what: "eviction" | "launch" | "end";
}

/** What the product does to pods and machines from now on. */
function watched(options: Partial<LabOptions> = {}): {
  readonly acts: Act[];
  readonly options: Partial<LabOptions>;
  readonly since: (at: number) => readonly string[];
} {
  const acts: Act[] = [];
  const names: Readonly<Record<string, Act["what"]>> = { evict: "eviction", launch: "launch", terminate: "end" };
  const hooks: LabOptions["hooks"] = {
    before: async ({ port, method }) => {
      const what = port === "fleet" || port === "kubernetes" ? names[method] : undefined;
      if (what !== undefined && lab) acts.push({ at: lab.world.clock.now(), what });
    },
  };
  return { acts, options: { ...options, hooks }, since: (at) => acts.filter((act) => act.at >= at).map(({ what }) => what) };
}

const eventsOf = ({ world }: Lab): string => world.events.map(({ message }) => message).join("\n");
const now = (): number => lab?.world.clock.now() ?? 0;
const taints = ({ world }: Lab): number => JSON.stringify(world.store.list("Node")).split("karpenter.sh/disrupted").length - 1;

/** Nodes that a user's edit has drifted, of which one is being replaced. */
async function drifting(watch: ReturnType<typeof watched>): Promise<Lab> {
  const started = await running(6, [NODE_CLASS, POOL, INFLATE], watch.options);
  lab = started;
  const labelled = nodePool([ON_DEMAND, FAMILIES]);
  const spec = labelled.spec as { template: object };
  started.world.apply({ ...labelled, spec: { ...spec, template: { ...spec.template, metadata: { labels: { generation: "2" } } } } });
  await until(started, () => taints(started) > 0, 5 * MINUTE);
  return started;
}

describe.for([
  { how: "the command", hold: (l: Lab) => byCommand(l, {}), resume: (l: Lab) => byCommand(l, undefined) },
  { how: "the ConfigMap", hold: async (l: Lab) => byKubectl(l, { reason: "AMI" }), resume: async (l: Lab) => resumeByKubectl(l) },
])("paused by $how", ({ hold, resume }) => {
  it("in the middle of a drift nothing is bought, evicted or ended, and the node that was tainted is not any more", async () => {
    const watch = watched();
    const started = await drifting(watch);
    await hold(started);
    const at = now();
    await pass(started, 30 * MINUTE);
    expect(watch.since(at + 10 * SECOND)).toEqual([]);
    expect(taints(started)).toBe(0);
    expect(runningPods(started)).toBe(6);
    expect(reasons(started)).toContain("Paused");
    await resume(started);
    await pass(started, 30 * MINUTE);
    expect(new Set(watch.since(at + 30 * MINUTE))).toEqual(new Set(["launch", "eviction", "end"]));
    expect(JSON.stringify(started.world.store.list("Node")).split('"generation":"2"')).toHaveLength(names(started, "Node").length + 1);
    expect(runningPods(started)).toBe(6);
  });

  it("pods wait for a node, their events say why, and get it after resume", async () => {
    const watch = watched();
    const started = await running(2, [NODE_CLASS, POOL, INFLATE], watch.options);
    lab = started;
    await hold(started);
    const at = now();
    await pass(started, 5 * SECOND);
    scale(started, 30);
    await pass(started, 20 * MINUTE);
    expect(watch.since(at)).toEqual([]);
    expect(eventsOf(started)).toContain("no node is launched: disruption and launches are paused by ");
    await resume(started);
    await pass(started, 3 * MINUTE);
    expect(runningPods(started)).toBe(30);
  });
});

describe("while only disruption is paused", () => {
  it("pods get nodes, and those of a spot machine that EC2 takes back are saved", async () => {
    const watch = watched();
    const started = await running(6, [NODE_CLASS, SPOT_POOL, INFLATE], watch.options);
    lab = started;
    byKubectl(started, { only: "disruption", reason: "look at it first" });
    await pass(started, 5 * SECOND);
    scale(started, 20);
    await pass(started, 3 * MINUTE);
    expect(runningPods(started)).toBe(20);
    const [first] = alive(started);
    started.cloud.interruptSpot(first?.instance.id ?? "");
    await pass(started, 5 * MINUTE);
    expect(watch.acts.map(({ what }) => what)).toContain("eviction");
    expect(runningPods(started)).toBe(20);
    expect(names(started, "NodeClaim")).toHaveLength(alive(started).length);
  });

  it("what a user deletes ends, and its pods get another node", async () => {
    const started = await running(6, [NODE_CLASS, POOL, INFLATE]);
    lab = started;
    byKubectl(started, { only: "disruption" });
    const [claim = ""] = names(started, "NodeClaim");
    started.world.delete("NodeClaim", claim);
    await pass(started, 5 * MINUTE);
    expect(names(started, "NodeClaim")).not.toContain(claim);
    expect(runningPods(started)).toBe(6);
  });

  it("the history has when the ConfigMap came and went", async () => {
    const started = await running(6, [NODE_CLASS, POOL, INFLATE]);
    lab = started;
    byKubectl(started, { only: "disruption", by: "alice" });
    await pass(started, 2 * MINUTE);
    resumeByKubectl(started);
    await pass(started, 2 * MINUTE);
    const kept = await started.deps.store.history(started.world.cluster, { since: 0, until: now() + 1, about: "pause/ConfigMap" });
    expect(kept.map(sentenceOf)).toEqual([
      expect.stringMatching(/^disruption is paused by ConfigMap kube-system\/karpenter-serverless-pause \(by its own word alice\) since /),
      expect.stringMatching(/^resumed by deletion of the ConfigMap, /),
    ]);
  });

  it("a drain that has begun stops, and a spot notice takes it up again", async () => {
    const watch = watched();
    const started = await running(6, [NODE_CLASS, SPOT_POOL, INFLATE], watch.options);
    lab = started;
    const pool = started.world.store.get("NodePool", "default");
    const spec = pool?.spec as { template: object };
    started.world.apply({
      ...SPOT_POOL,
      spec: { ...(SPOT_POOL.spec as object), template: { ...spec.template, metadata: { labels: { generation: "2" } } } },
    });
    await until(started, () => watch.acts.some(({ what }) => what === "eviction"), 10 * MINUTE);
    byKubectl(started, { only: "disruption" });
    const at = now();
    const deleting = started.world.store.list("NodeClaim").filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
    await pass(started, 20 * MINUTE);
    expect(watch.since(at + 10 * SECOND)).toEqual([]);
    const left = deleting.filter(({ metadata }) => names(started, "NodeClaim").includes(metadata.name));
    expect(left).not.toEqual([]);
    for (const { metadata } of left) {
      const record = (await started.deps.store.list(started.world.cluster)).find(({ name }) => name === metadata.name);
      if (record?.instance) started.cloud.interruptSpot(record.instance.id);
    }
    await pass(started, 6 * MINUTE);
    for (const { metadata } of left) expect(names(started, "NodeClaim")).not.toContain(metadata.name);
    expect(runningPods(started)).toBe(6);
  });
});

it("a pause with an end ends then, to the minute", async () => {
  const started = await running(2, [NODE_CLASS, POOL, INFLATE]);
  lab = started;
  await byCommand(started, { only: "launches", until: now() + 10 * MINUTE });
  scale(started, 30);
  await pass(started, 10 * MINUTE);
  expect(runningPods(started)).toBeLessThan(30);
  await pass(started, 2 * MINUTE);
  expect(runningPods(started)).toBe(30);
});

it("a value that cannot be read pauses both, and is named", async () => {
  const watch = watched();
  const started = await running(2, [NODE_CLASS, POOL, INFLATE], watch.options);
  lab = started;
  byKubectl(started, { only: "launch", until: "tomorrow" });
  const at = now();
  scale(started, 0);
  await pass(started, 10 * MINUTE);
  expect(watch.since(at)).toEqual([]);
  expect(eventsOf(started)).toContain(
    '(only is "launch", not disruption or launches; until is "tomorrow", not a time as in 2026-11-28T18:00:00Z)',
  );
});

it("while the API server does not answer for the ConfigMap, what was known of it holds", async () => {
  let isAway = false;
  const watch = watched();
  const before = watch.options.hooks?.before;
  const started = await running(2, [NODE_CLASS, POOL, INFLATE], {
    hooks: {
      before: async (call) => {
        await before?.(call);
        if (isAway && call.method === "get" && call.args[0] === "ConfigMap") throw new Error("503");
      },
    },
  });
  lab = started;
  byKubectl(started, { only: "launches" });
  await pass(started, 2 * MINUTE);
  isAway = true;
  resumeByKubectl(started);
  scale(started, 30);
  const at = now();
  await pass(started, 10 * MINUTE);
  expect(watch.since(at)).toEqual([]);
  isAway = false;
  await pass(started, 4 * MINUTE);
  expect(runningPods(started)).toBe(30);
});

it("no other object of the name pauses a cluster", async () => {
  const started = await running(2, [NODE_CLASS, POOL, INFLATE]);
  lab = started;
  started.world.apply({ ...configMap({}), metadata: { name: "karpenter-serverless-pause", namespace: "default" } });
  scale(started, 30);
  await pass(started, 4 * MINUTE);
  expect(runningPods(started)).toBe(30);
});
