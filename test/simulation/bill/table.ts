/**
 * What the table is asked for: `node test/simulation/bill/table.ts [--nodes 100]` plays a cluster in the lab that
 * rests, grows, is interrupted and is consolidated. Prints the request units of DynamoDB for each node of each kind,
 * beyond those of the cluster at rest, the partitions and items that get most of them, and the sizes of items.
 */
import { parseArgs } from "node:util";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { createLab, type Lab } from "#lab/host.ts";
import type { PortCall } from "#lab/world/intercept.ts";
import { CATALOGUE, deployment, NODE_CLASS, nodePool, ON_DEMAND, SPOT, START } from "../story.ts";
import { billMeter, bytesOf } from "./meter.ts";

const { values } = parseArgs({ options: { nodes: { type: "string", default: "100" } } });
const NODES = Number(values.nodes);
/** Nodes that come or go. */
const CHANGED = Math.max(1, Math.round(NODES / 10));
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const ONE_TYPE = { key: "node.kubernetes.io/instance-type", operator: "In", values: ["m5.large"] };
/** One pod has a node of two CPUs to itself; of the smaller ones two share it. */
const WHOLE = { cpu: "1500m" };
const HALF = { cpu: "800m" };

interface Units {
  reads: number;
  writes: number;
}

/** Units by partition and by item. A query counts for its partition alone. */
function keyCounter() {
  const partitions = new Map<string, Units>();
  const items = new Map<string, Units>();
  const sizes = new Map<string, number[]>();
  const add = (map: Map<string, Units>, key: string, { reads, writes }: Units): void => {
    const known = map.get(key) ?? { reads: 0, writes: 0 };
    map.set(key, { reads: known.reads + reads, writes: known.writes + writes });
  };
  const sized = (kind: string, bytes: number): void => void sizes.set(kind, [...(sizes.get(kind) ?? []), bytes]);
  const onTable = (call: PortCall, result: unknown, units: Units): void => {
    const { partition, sort } = keysOf(call);
    add(partitions, partition, units);
    if (sort !== undefined) add(items, `${partition} ${sort}`, units);
    const record = call.method === "get" ? result : call.method === "update" || call.method === "create" ? call.args[0] : undefined;
    if (record !== undefined) sized(stateOf(record as NodeClaimRecord), bytesOf(record as object));
  };
  return { partitions, items, sizes, onTable };
}

const stateOf = ({ terminating, initializedAt, instance }: NodeClaimRecord): string =>
  `a NodeClaim that ${terminating ? "ends" : initializedAt ? "is initialized" : instance ? "has an instance" : "is planned"}`;

/** The partition key and, for a call about one item, its sort key (adapters/store/dynamodb-store.ts). */
function keysOf({ method, args: [first, second] }: PortCall): { readonly partition: string; readonly sort?: string } {
  const about = first as { readonly cluster?: string; readonly name?: string; readonly id?: string };
  const cluster = `cluster#${about.cluster ?? String(first)}`;
  switch (method) {
    case "get":
      return { partition: cluster, sort: `claim#${String(second)}` };
    case "create":
    case "update":
    case "remove":
      return { partition: cluster, sort: `claim#${about.name}` };
    case "joinLaunch":
    case "launchGroup":
      return { partition: cluster, sort: `launch#${String(second)}` };
    case "updateLaunchGroup":
      return { partition: cluster, sort: `launch#${about.id}` };
    case "updateCommand":
    case "removeCommand":
      return { partition: cluster, sort: `command#${about.id}` };
    case "acquireLease":
    case "renewLease":
    case "releaseLease":
      return { partition: cluster, sort: "lease" };
    case "isFirstWithin":
    case "wasSeen":
      return { partition: `seen#${String(first)}`, sort: String(second) };
    case "documentVersion":
    case "getDocument":
    case "putDocument":
      return { partition: `document#${String(first)}`, sort: "head" };
    case "swapPace":
      return { partition: `pace#${String(first)}`, sort: "pace" };
    case "byInstance":
      return { partition: "index byInstance" };
    case "addHistory":
    case "history":
      return { partition: "history" };
    default:
      return { partition: cluster };
  }
}

interface Played {
  readonly lab: Lab;
  readonly keys: ReturnType<typeof keyCounter>;
  readonly pass: (ms: number) => Promise<void>;
  readonly take: () => Units;
}

/** A cluster at rest. */
async function opened(capacity: object, pods: number, requests: object): Promise<Played> {
  const keys = keyCounter();
  const meter = billMeter(keys.onTable);
  const { hooks, onLog } = meter;
  const labOptions = { seed: 1, start: START, region: "us-west-2", catalogue: CATALOGUE, hooks, onLog, batchSize: 10, ec2: {} };
  const lab = createLab({ ...labOptions, sources: ["notify"] });
  meter.attach(lab);
  for (const object of [NODE_CLASS, nodePool([capacity, ONE_TYPE], { limits: {} }), deployment(pods, requests)]) lab.world.apply(object);
  const pass = async (ms: number): Promise<void> => void (await lab.world.clock.run({ until: lab.world.clock.now() + ms }));
  const take = (): Units => {
    const { tableReads: reads, tableWrites: writes } = meter.take(lab).usage;
    return { reads, writes };
  };
  await pass(HOUR);
  take();
  for (const map of [keys.partitions, keys.items, keys.sizes]) map.clear();
  return { lab, keys, pass, take };
}

const nodesOf = ({ world }: Lab): readonly string[] => world.store.list("Node").map(({ metadata }) => metadata.name);
const scale = (lab: Lab, replicas: number): void => lab.world.scale("Deployment", "default", "inflate", replicas);
const round = (value: number): number => Math.round(value * 10) / 10;

function print(what: string, count: number, { reads, writes }: Units, keys: Played["keys"]): void {
  // Of all that was asked meanwhile, the quiet part too.
  const all = [...keys.partitions.values()].reduce((sum, units) => sum + units.reads + units.writes, 0);
  const share = ([key, units]: readonly [string, Units]): string => `${key} ${Math.round((100 * (units.reads + units.writes)) / all)} %`;
  const most = (map: ReadonlyMap<string, Units>): readonly string[] =>
    [...map]
      .sort(([, a], [, b]) => b.reads + b.writes - a.reads - a.writes)
      .slice(0, 2)
      .map(share);
  console.log(
    JSON.stringify({
      ...{ node: what, nodes: count, readUnits: round(reads / count), writeUnits: round(writes / count) },
      ...{ busiestPartitions: most(keys.partitions), busiestItems: most(keys.items) },
    }),
  );
  keys.partitions.clear();
  keys.items.clear();
}

const less = (units: Units, quiet: Units, hours: number): Units => ({
  reads: Math.max(0, units.reads - quiet.reads * hours),
  writes: Math.max(0, units.writes - quiet.writes * hours),
});

const allSizes = new Map<string, number[]>();
function keep({ keys }: Played): void {
  for (const [kind, bytes] of keys.sizes) allSizes.set(kind, [...(allSizes.get(kind) ?? []), ...bytes]);
}

const steady = await opened(ON_DEMAND, NODES, WHOLE);
await steady.pass(HOUR);
const quiet = steady.take();
print("steady, for an hour", NODES, quiet, steady.keys);

scale(steady.lab, NODES + CHANGED);
await steady.pass(HOUR / 2);
print("launched", CHANGED, less(steady.take(), quiet, 0.5), steady.keys);
scale(steady.lab, NODES);
await steady.pass(HOUR / 2);
print("emptied", CHANGED, less(steady.take(), quiet, 0.5), steady.keys);
keep(steady);
steady.lab.close();

const spot = await opened(SPOT, NODES, WHOLE);
const running = spot.lab.cloud.machines().filter(({ instance }) => instance.state === "running");
for (const { instance } of running.slice(0, CHANGED)) spot.lab.cloud.interruptSpot(instance.id);
await spot.pass(HOUR / 2);
print("interrupted, with its replacement", CHANGED, less(spot.take(), quiet, 0.5), spot.keys);
keep(spot);
spot.lab.close();

const shared = await opened(ON_DEMAND, 2 * NODES, HALF);
const before = nodesOf(shared.lab).length;
for (const [i, pod] of shared.lab.world.store.list("Pod").entries())
  if (i % 5 === 0) shared.lab.world.delete("Pod", pod.metadata.name, "default");
scale(shared.lab, Math.floor(2 * NODES * 0.8));
await shared.pass(HOUR);
const gone = before - nodesOf(shared.lab).length;
print("consolidated", Math.max(1, gone), less(shared.take(), quiet, 1), shared.keys);
keep(shared);
shared.lab.close();

for (const [kind, bytes] of allSizes) {
  const sorted = bytes.sort((a, b) => a - b);
  console.log(JSON.stringify({ item: kind, medianBytes: sorted[Math.floor(sorted.length / 2)], mostBytes: sorted.at(-1) }));
}
