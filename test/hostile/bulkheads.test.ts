import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { conditionOf } from "#core/model/conditions.ts";
import type { Condition } from "#core/model/kubernetes.ts";
import { MAX_PRICE_PER_HOUR, SCHEDULE } from "#core/model/labels.ts";
import type { Node } from "#core/model/node.ts";
import type { Pod } from "#core/model/pod.ts";
import { requirementsFrom } from "#core/requirements/requirements.ts";
import { withoutUnreadable } from "#core/set-aside/set-aside.ts";
import type { Lab } from "#lab/host.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { NODE_CLASS } from "../simulation/story.ts";
import { alive, INFLATE, MINUTE, POOL, pass, podsOf, ready, scale } from "../support/lab-story.ts";
import * as objects from "../support/objects.ts";

const named = (object: ApiObject, name: string): ApiObject => ({ ...object, metadata: { name } });
const withSpec = (object: ApiObject, spec: object): ApiObject => ({ ...object, spec: { ...(object.spec as object), ...spec } });
const poolOf = (name: string, nodeClass: string): ApiObject => {
  const { template, ...spec } = POOL.spec as { readonly template: { readonly spec: object } };
  const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: nodeClass };
  return { ...POOL, metadata: { name }, spec: { ...spec, template: { spec: { ...template.spec, nodeClassRef } } } };
};
const affinity = (item: object): object => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [item] }] } } },
});
const podOf = (name: string, spec: object, requests: object = { cpu: "1" }): ApiObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "tenant" },
  spec: { containers: [{ name: "main", image: "pause", resources: { requests } }], ...spec },
});

/** What an API server admits and no decision can use, with how its owner is told. */
const HOSTILE: readonly { readonly name: string; readonly objects: readonly ApiObject[]; readonly told?: RegExp }[] = [
  {
    name: 'a pod that selects the label "constructor"',
    objects: [podOf("constructor", { nodeSelector: { constructor: "x" } })],
    told: /Pod\/constructor FailedScheduling .*constructor/,
  },
  {
    name: "a pod that requests 1e9999 bytes",
    objects: [podOf("huge", {}, { memory: "1e9999" })],
    told: /Pod\/huge FailedScheduling .*memory/,
  },
  {
    name: "a pod that requests what is no quantity",
    objects: [podOf("no-quantity", { nodeSelector: { nowhere: "x" } }, { memory: "1e1.5" })],
    told: /Pod\/no-quantity Unreadable .*"1e1\.5" is not valid/,
  },
  {
    name: "a pod with a bound that 64 bits do not hold",
    objects: [podOf("bound", affinity({ key: "karpenter.k8s.aws/instance-cpu", operator: "Lt", values: ["9".repeat(26)] }))],
    told: /Pod\/bound FailedScheduling .*integer from 0 to/,
  },
  {
    name: "a NodePool whose limit is no quantity",
    objects: [withSpec(named(POOL, "limit"), { limits: { cpu: "1e1.5" }, weight: 100 })],
    told: /NodePool\/limit Unreadable .*spec\.limits: resource cpu: quantity "1e1\.5"/,
  },
  {
    name: "a NodePool whose price cap is no amount",
    objects: [{ ...withSpec(POOL, { weight: 100 }), metadata: { name: "cap", annotations: { [MAX_PRICE_PER_HOUR]: "12,50" } } }],
    told: /NodePool\/cap Unreadable .*max-price-per-hour is "12,50"; write dollars an hour as a number/,
  },
  {
    name: "a NodePool whose limit has 40,000 digits",
    objects: [withSpec(named(POOL, "long-limit"), { limits: { cpu: "0".repeat(40_000) }, weight: 100 })],
  },
  {
    name: "an EC2NodeClass whose systemReserved is no quantity",
    objects: [withSpec(named(NODE_CLASS, "class"), { kubelet: { systemReserved: { cpu: "1e1.5" } } }), poolOf("class", "class")],
    told: /EC2NodeClass\/class Unreadable .*spec\.kubelet\.systemReserved/,
  },
];

/** An object of the same kind and name that asks for nothing that there is. */
function harmlessTwin(object: ApiObject): ApiObject {
  if (object.kind === "Pod") return podOf(object.metadata.name, { nodeSelector: { nowhere: "x" } });
  return object.kind === "NodePool" ? withSpec(object, { limits: { cpu: "0" } }) : named(NODE_CLASS, object.metadata.name);
}

/** How the ordinary Deployment fares while it is scaled: each minute, how many of its pods run, on which machines. */
async function courseOf(lab: Lab): Promise<readonly string[]> {
  const course: string[] = [];
  for (const replicas of [5, 9, 2]) {
    scale(lab, replicas);
    for (let minute = 0; minute < 6; minute++) {
      await pass(lab, MINUTE);
      const running = podsOf(lab).filter(({ metadata, status }) => metadata.namespace === "default" && status?.phase === "Running");
      const machines = alive(lab).map(({ instance }) => instance.instanceType);
      course.push(`${running.length} pods on ${machines.sort().join(", ")}`);
    }
  }
  return course;
}

describe("objects that an API server admits and no decision can use, beside an ordinary Deployment", () => {
  let lab: Lab;
  let course: readonly string[];

  beforeAll(async () => {
    lab = await ready([NODE_CLASS, POOL, ...HOSTILE.flatMap(({ objects: hostile }) => hostile), INFLATE]);
    course = await courseOf(lab);
  }, 60_000);

  afterAll(() => lab.close());

  it("ordinary pods run as soon, and on the same machines, as beside harmless objects", async () => {
    // As many of each kind, because each object draws from the lab's random numbers.
    const harmless = HOSTILE.flatMap(({ objects: hostile }) => hostile).map(harmlessTwin);
    const other = await ready([NODE_CLASS, POOL, ...harmless, INFLATE]);
    expect(course).toEqual(await courseOf(other));
    expect(new Set(course.map((text) => text.split(" ")[0]))).toEqual(new Set(["5", "9", "2"]));
    other.close();
  });

  it.for(HOSTILE.filter(({ told }) => told !== undefined))("the owner of $name is told", ({ told = /./ }) => {
    const events = lab.world.events.map(({ about, reason, message }) => `${about.kind}/${about.metadata.name} ${reason} ${message}`);
    expect(events.filter((text) => told.test(text))).not.toEqual([]);
  });
});

it("a NodePool and an EC2NodeClass that cannot be read say so in their conditions", async () => {
  const broken = withSpec(named(NODE_CLASS, "mine"), { kubelet: { systemReserved: { cpu: "1e1.5" } } });
  const lab = await ready([NODE_CLASS, broken, withSpec(named(POOL, "mine"), { limits: { cpu: "1e1.5" } })]);
  for (const kind of ["NodePool", "EC2NodeClass"]) {
    const object = lab.world.store.list(kind).find(({ metadata }) => metadata.name === "mine");
    const { conditions } = (object?.status ?? {}) as { readonly conditions?: readonly Condition[] };
    const { status: verdict, message } = conditionOf(conditions, "ValidationSucceeded") ?? {};
    expect(`${verdict}: ${message}`).toMatch(/^False: spec\..*"1e1\.5" is (not valid|neither a quantity nor an expression)/);
  }
  lab.close();
});

it("pods that no readable NodePool can take are told what is wrong with the others", async () => {
  const sleepy = { ...POOL, metadata: { name: "sleepy", annotations: { [SCHEDULE]: "20h" } } };
  const alone = await ready([NODE_CLASS, sleepy, INFLATE]);
  scale(alone, 1);
  await pass(alone, MINUTE);
  const told = (lab: Lab) => lab.world.events.filter(({ reason }) => reason === "FailedScheduling").map(({ message }) => message);
  const why = /NodePool sleepy cannot be read: metadata\.annotations: karpenter-serverless\/schedule "20h" is no schedule/;
  expect(told(alone)).toContainEqual(expect.stringMatching(/no NodePool can launch nodes: sleepy cannot be read: metadata\.annotations/));
  alone.close();
  const beside = await ready([NODE_CLASS, sleepy, withSpec(named(POOL, "full"), { limits: { cpu: "0" } }), INFLATE]);
  scale(beside, 1);
  await pass(beside, MINUTE);
  expect(told(beside)).toContainEqual(expect.stringMatching(why));
  beside.close();
});

const EMPTY = {
  ...{ pods: [], nodes: [], nodeClaims: [], nodePools: [], nodeClasses: [], daemonSets: [], podDisruptionBudgets: [] },
  ...{ persistentVolumeClaims: [], persistentVolumes: [], storageClasses: [], csiNodes: [], namespaces: [] },
};
const META = { name: "bad", namespace: "default" };
const ROOM = { cpu: "4", pods: "110" };
const nodeOf = (name: string, resources: Readonly<Record<string, string>> = ROOM): Node =>
  objects.node(name, { providerID: `aws:///z/${name}`, resources });

it.for([
  { name: "a running pod", change: { pods: [objects.pod("p", { nodeName: "n1", requests: { cpu: "1e1.5" } })] } },
  { name: "the node", change: { nodes: [nodeOf("n1", { cpu: "1e1.5" }), nodeOf("n2")] } },
  {
    name: "its NodeClaim",
    change: {
      nodeClaims: [objects.nodeClaim("c", { uid: "u", providerID: "aws:///z/n1", status: { nodeName: "n1", capacity: { cpu: "1e1.5" } } })],
    },
  },
])("where $name cannot be read, the node takes no pods and is not disrupted, and other nodes are as before", ({ change }) => {
  const { nodes, untouchable, setAside } = withoutUnreadable({ ...EMPTY, nodes: [nodeOf("n1"), nodeOf("n2")], ...change });
  expect(nodes.map(({ status }) => status?.allocatable)).toEqual([{}, ROOM]);
  expect([...untouchable.keys()]).toEqual(["n1"]);
  expect(setAside).toHaveLength(1);
});

it("a running pod that cannot be read keeps its labels, ports and rules", () => {
  const pod = objects.pod("p", {
    nodeName: "n1",
    metadata: { labels: { app: "web" } },
    spec: { containers: [{ name: "main", ports: [{ hostPort: 80, containerPort: 80 }], resources: { requests: { cpu: "1e1.5" } } }] },
  });
  const [kept] = withoutUnreadable({ ...EMPTY, pods: [pod] }).pods;
  expect(kept).toEqual({ ...pod, spec: { ...pod.spec, containers: [{ name: "main", ports: [{ hostPort: 80, containerPort: 80 }] }] } });
});

it.for([
  { name: "a container's request", resources: undefined },
  { name: "a container's request, beside limits of the pod", resources: { limits: { cpu: "1" } } },
])("a DaemonSet is left out where $name cannot be read, and another one is kept", ({ resources }) => {
  const daemonSet = (name: string, cpu: string) => {
    const spec = { containers: [{ name: "main", resources: { requests: { cpu } } }], ...(resources && { resources }) };
    return { metadata: { name, namespace: "tenant" }, spec: { template: { spec } } };
  };
  const { daemonSets, setAside } = withoutUnreadable({ ...EMPTY, daemonSets: [daemonSet("bad", "1e1.5"), daemonSet("good", "1")] });
  expect(daemonSets.map(({ metadata }) => metadata.name)).toEqual(["good"]);
  expect(setAside.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^DaemonSet cannot be read: resource cpu: quantity "1e1\.5"/),
  ]);
});

it("lists that can be read are as they were", () => {
  const lists = { ...EMPTY, nodes: [nodeOf("n1")], pods: [objects.pod("p", { nodeName: "n1", requests: { cpu: "1" } })] };
  expect(withoutUnreadable(lists)).toEqual({ ...lists, setAside: [], untouchable: new Map(), unreadablePools: new Map() });
});

it("a null is read as an absent field, and a list without nulls stays the same object", () => {
  const plain = objects.pod("p", { nodeName: "n1", requests: { cpu: "1" } });
  const withNull = { ...plain, spec: { ...plain.spec, tolerations: null } } as unknown as Pod;
  const { pods, setAside } = withoutUnreadable({ ...EMPTY, pods: [withNull, plain] });
  expect(pods).toEqual([plain, plain]);
  expect(pods[1]).toBe(plain);
  expect(setAside).toEqual([]);
});

it.for([
  { kind: "Pod", list: "pods", object: objects.pod("p", { nodeName: "n1", spec: { tolerations: [null as never] } }) },
  { kind: "Node", list: "nodes", object: objects.node("n1", { providerID: "x", taints: [null as never] }) },
  {
    kind: "PodDisruptionBudget",
    list: "podDisruptionBudgets",
    object: { metadata: META, spec: { selector: { matchExpressions: [null] } } },
  },
] as const)("where a list of a $kind holds a null, its nodes are not disrupted, and the owner is told where", ({ kind, list, object }) => {
  const bound = objects.pod("other", { nodeName: "n1" });
  const lists = { ...EMPTY, nodes: [nodeOf("n1"), nodeOf("n2")], pods: [bound], [list]: [object] };
  const { untouchable, setAside } = withoutUnreadable(
    list === "podDisruptionBudgets" ? lists : { ...lists, pods: list === "pods" ? [object as Pod] : [] },
  );
  expect([...untouchable.keys()]).toEqual(["n1"]);
  expect(setAside.map((one) => `${one.kind}: ${one.message}`)).toEqual([
    expect.stringMatching(`^${kind}: ${kind} cannot be read: spec\\..* is null;`),
  ]);
});

it.for([
  { kind: "StorageClass", list: "storageClasses", object: { metadata: META, allowedTopologies: [null] } },
  { kind: "PersistentVolume", list: "persistentVolumes", object: { metadata: META, spec: { accessModes: [null] } } },
  { kind: "CSINode", list: "csiNodes", object: { metadata: META, spec: { drivers: [null] } } },
])("a $kind that cannot be read counts as absent, and its owner is told", ({ kind, list, object }) => {
  const read = withoutUnreadable({ ...EMPTY, [list]: [object, { metadata: { name: "good" }, spec: {} }] });
  expect((read[list as "csiNodes"] ?? []).map(({ metadata }) => metadata.name)).toEqual(["good"]);
  expect(read.setAside.map((one) => one.kind)).toEqual([kind]);
});

it.for([
  { operator: "Gt", values: ["1e+26"] },
  { operator: "Lt", values: [] },
  { operator: "Near", values: ["x"] },
])("no node meets a requirement that cannot be read: $operator $values", (item) => {
  expect(requirementsFrom([{ key: "k", ...(item as { operator: "Gt"; values: string[] }) }]).get("k")?.never).toBe(true);
});
