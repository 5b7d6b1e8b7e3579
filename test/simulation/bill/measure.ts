import { type Measured, mapUsage, type QuietHour, type Usage } from "#cli/cost/usage.ts";
import { createLab, type Lab } from "#lab/host.ts";
import type { WakeUpSource } from "#settings/cluster-list.ts";
import { CATALOGUE, deployment, NODE_CLASS, nodePool, ON_DEMAND, START } from "../story.ts";
import { billMeter } from "./meter.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The NodePool offers one type of two CPUs, so that each of these pods has a node of its own. */
const ONE_TYPE = { key: "node.kubernetes.io/instance-type", operator: "In", values: ["m5.large"] };
const POD = { cpu: "1500m" };

interface Opened {
  readonly lab: Lab;
  readonly meter: ReturnType<typeof billMeter>;
  pass(ms: number): Promise<void>;
  scale(replicas: number): void;
}

/** A cluster with so many nodes at rest. */
async function opened(source: WakeUpSource, nodes: number): Promise<Opened> {
  const meter = billMeter();
  const { hooks, onLog } = meter;
  const sources = source === "sweep" ? [] : [source];
  const lab = createLab({
    seed: 1,
    start: START,
    region: "us-west-2",
    sources,
    catalogue: CATALOGUE,
    hooks,
    onLog,
    batchSize: 10,
    ec2: {},
  });
  meter.attach(lab);
  const pool = nodePool([ON_DEMAND, ONE_TYPE], { limits: { cpu: 1e6 } });
  for (const object of [NODE_CLASS, pool, deployment(nodes, POD)]) lab.world.apply(object);
  const pass = async (ms: number): Promise<void> => {
    await lab.world.clock.run({ until: lab.world.clock.now() + ms });
  };
  await pass(HOUR);
  const standing = lab.world.store.list("Node").length;
  if (standing !== nodes) throw new Error(`the lab has ${standing} nodes for ${nodes} pods`);
  meter.take(lab);
  return { lab, meter, pass, scale: (replicas) => lab.world.scale("Deployment", "default", "inflate", replicas) };
}

/** An hour in which no node comes or goes. */
export async function quietHour(nodes: number): Promise<QuietHour> {
  const { lab, meter, pass } = await opened("notify", nodes);
  await pass(HOUR);
  const { usage, metrics } = meter.take(lab);
  lab.close();
  return { nodes, usage, metrics };
}

/** What each of ten nodes adds to an hour, in which their pods go and come back. */
async function replaced(source: WakeUpSource, nodes: number, quiet: Usage) {
  const CHANGED = 10;
  const { lab, meter, pass, scale } = await opened(source, nodes);
  const standing = () => new Set(lab.world.store.list("Node").map(({ metadata }) => metadata.name));
  const before = standing();
  const told = meter.history();
  scale(nodes - CHANGED);
  await pass(HOUR / 2);
  scale(nodes);
  await pass(HOUR / 2);
  const stayed = [...standing()].filter((name) => before.has(name)).length;
  if (stayed !== nodes - CHANGED) throw new Error(`of ${nodes} nodes ${stayed} stayed, and not ${nodes - CHANGED}`);
  const { usage, metrics } = meter.take(lab);
  lab.close();
  const now = meter.history();
  const history = {
    entries: (now.entries - told.entries) / CHANGED,
    bytes: (now.bytes - told.bytes) / CHANGED,
    writes: (now.writes - told.writes) / CHANGED,
  };
  return { history, node: mapUsage((quantity) => Math.max(0, usage[quantity] - quiet[quantity]) / CHANGED), metrics };
}

/** Plays the hours whose use of AWS `cost` computes with, in the lab. The same in each run. */
export async function measureBill(sizes: readonly number[]): Promise<Measured> {
  const quietHours: QuietHour[] = [];
  for (const nodes of sizes) quietHours.push(await quietHour(nodes));
  const steady = quietHours.find(({ nodes }) => nodes >= 100) ?? quietHours.at(-1);
  if (steady === undefined) throw new Error("no size to measure");
  const by = (source: WakeUpSource) => replaced(source, steady.nodes, steady.usage);
  const [sweep, notify, audit] = [await by("sweep"), await by("notify"), await by("audit")];
  return {
    quietHours,
    replacedNode: { sweep: sweep.node, notify: notify.node, audit: audit.node },
    metricsOfChange: notify.metrics,
    historyOfNode: notify.history,
  };
}
