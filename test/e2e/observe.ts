import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CLAIM_UID_TAG, NODE_CLAIM_TAG } from "#core/model/tags.ts";
import type { FakeInstance } from "./fake-aws/world.ts";
import { expect } from "./report.ts";
import { type GrowingLog, growingLog } from "./support/growing-log.ts";
import { eventually } from "./support/wait.ts";
import type { E2eWorld } from "./world.ts";

// What stories observe: objects of the API server, instances, the audit log.

export const MINUTE = 60_000;

/**
 * The limit for every wait, ms. It is far above the usual times, because it must distinguish what never happens from
 * what is late on a busy machine. The time that a wait took is printed.
 */
export const LONG = 15 * MINUTE;

export interface Thing {
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: { readonly providerID?: string; readonly nodeName?: string; readonly taints?: readonly { readonly key: string }[] };
  readonly status?: {
    readonly phase?: string;
    readonly providerID?: string;
    readonly nodeName?: string;
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly lastTransitionTime: string;
    }[];
  };
}

const PATHS = { nodes: "/api/v1/nodes", nodeclaims: "/apis/karpenter.sh/v1/nodeclaims" } as const;

export async function list({ cluster }: Pick<E2eWorld, "cluster">, resource: keyof typeof PATHS): Promise<readonly Thing[]> {
  return (await cluster.get<{ items: readonly Thing[] }>(PATHS[resource])).items;
}

/** Pods of a namespace that are not being deleted. */
export async function pods({ cluster }: E2eWorld, namespace = "default"): Promise<readonly Thing[]> {
  const { items } = await cluster.get<{ items: readonly Thing[] }>(`/api/v1/namespaces/${namespace}/pods`);
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

export function conditionTrue({ status }: Thing, type: string): boolean {
  return status?.conditions?.some((c) => c.type === type && c.status === "True") === true;
}

export async function running(world: E2eWorld, namespace: string, wanted: number): Promise<readonly Thing[]> {
  return eventually(
    `${wanted} pods run`,
    async () => {
      const found = await pods(world, namespace);
      if (found.length === wanted && found.every(({ status }) => status?.phase === "Running")) return found;
      throw new Error(`there are ${found.map(({ metadata, status }) => `${metadata.name} ${status?.phase}`).join(", ") || "none"}`);
    },
    { timeoutMs: LONG },
  );
}

/** Instances that are pending or running. */
export function alive(world: E2eWorld) {
  return [...world.fake.state.instances.values()].filter(({ state }) => state !== "terminated" && state !== "shutting-down");
}

/** Pending or running instances that are tagged with the name of a NodeClaim. */
export const machinesOf = (world: E2eWorld, claim: string): readonly FakeInstance[] =>
  alive(world).filter(({ tags }) => tags.get(NODE_CLAIM_TAG) === claim);

/** Waits until a condition of a NodeClaim is True. */
export async function hasCondition(world: E2eWorld, claim: string, condition: string): Promise<void> {
  await eventually(
    `NodeClaim ${claim} has the condition ${condition}`,
    async () => {
      const found = (await list(world, "nodeclaims")).find(({ metadata }) => metadata.name === claim);
      if (found !== undefined && conditionTrue(found, condition)) return true;
      throw new Error(JSON.stringify(found?.status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`)));
    },
    { timeoutMs: LONG },
  );
}

/** Waits until a NodeClaim is Initialized; returns its one instance. */
export async function initialized(world: E2eWorld, claim: string): Promise<FakeInstance> {
  await hasCondition(world, claim, "Initialized");
  const [machine, ...others] = machinesOf(world, claim);
  if (machine === undefined || others.length > 0)
    throw new Error(`NodeClaim ${claim} has not one machine, but ${machinesOf(world, claim).length}`);
  return machine;
}

/** Calls of an action with a number above `after`. */
export const callsSince = ({ fake }: E2eWorld, after: number, action: string) =>
  fake.state.calls.filter((call) => call.number > after && call.action === action);

/** The number of the newest call. */
export const lastCall = ({ fake }: E2eWorld): number => fake.state.calls.at(-1)?.number ?? 0;

/** Waits until no node, no NodeClaim, no intent and no instance exists. */
export async function gone(world: E2eWorld): Promise<void> {
  await eventually(
    "nothing is left in EC2, the table or the API server",
    async () => {
      const things = [...(await list(world, "nodes")), ...(await list(world, "nodeclaims"))].map(({ metadata }) => metadata.name);
      const records = await world.items("claim#");
      const left = [...things, ...alive(world).map(({ id }) => id), ...Array(records).fill("record")];
      if (left.length > 0) throw new Error(`there are ${left.join(" ")}`);
      return true;
    },
    { timeoutMs: LONG },
  );
}

/** The smallest number of ready pods while `during` ran. */
export async function leastReady(world: E2eWorld, during: () => Promise<void>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  let watching = true;
  const watch = (async () => {
    while (watching) {
      // A read that the API server is too busy for says nothing about the pods.
      const found = await pods(world).catch(() => undefined);
      if (found !== undefined) least = Math.min(least, found.filter((pod) => conditionTrue(pod, "Ready")).length);
      await sleep(20);
    }
  })();
  try {
    await during();
  } finally {
    watching = false;
    await watch;
  }
  return least;
}

/** The parts of an audit record that stories read. */
export interface AuditRecord {
  readonly stageTimestamp: string;
  readonly requestReceivedTimestamp: string;
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string; readonly name?: string };
  readonly responseStatus?: { readonly code?: number };
  readonly responseObject?: Thing;
}

const logs = new Map<string, GrowingLog>();

function linesSince(path: string, from: number): readonly string[] {
  const log = logs.get(path) ?? growingLog(path);
  logs.set(path, log);
  return log.linesSince(from);
}

/**
 * Records since a moment, oldest first; `matches` gets the text of a line, because parsing all lines would take
 * seconds. The API server writes a record after its answer, so a story must wait for the record of what it has seen.
 */
export function auditRecords(world: E2eWorld, from: number, matches: (line: string) => boolean): readonly AuditRecord[] {
  return linesSince(world.cluster.auditLog, from)
    .filter(matches)
    .map((line) => JSON.parse(line) as AuditRecord)
    .filter(({ stageTimestamp }) => Date.parse(stageTimestamp) >= from);
}

/** Evictions since a moment with this answer of the API server: 201, or 429 when a PodDisruptionBudget blocks. */
export function evictions(world: E2eWorld, from: number, code: 201 | 429): readonly AuditRecord[] {
  return auditRecords(world, from, (line) => line.includes('"subresource":"eviction"')).filter(
    ({ responseStatus }) => responseStatus?.code === code,
  );
}

/** Time of the first TerminateInstances after the call of this number, ms since the epoch. */
export const firstTermination = (world: E2eWorld, after: number): number | undefined =>
  callsSince(world, after, "TerminateInstances")[0]?.time;

/** A line that a function has logged. */
export interface LoggedLine {
  readonly time: string;
  readonly message: string;
}

/**
 * Log lines of the functions since a moment whose message begins with `beginning`, oldest first. An effect may show
 * before its line, so a story must wait for the line.
 */
export function functionLines({ dataDir }: E2eWorld, from: number, beginning: string): readonly LoggedLine[] {
  return linesSince(join(dataDir, "ministack.log"), from)
    .filter((line) => line.includes(`"message":${JSON.stringify(beginning).slice(0, -1)}`))
    .map((line) => JSON.parse(line.slice(line.indexOf("{"))) as LoggedLine)
    .filter(({ time }) => Date.parse(time) >= from);
}

/** Waits until every pod runs, and instances, records, NodeClaims and nodes agree one to one. */
export async function allUp(world: E2eWorld, machines: number): Promise<void> {
  await running(world, "default", machines);
  await eventually(
    `${machines} nodes are up, each with a claim, a record and a machine`,
    async () => {
      const [nodes, claims, records] = await Promise.all([list(world, "nodes"), list(world, "nodeclaims"), world.items("claim#")]);
      const ids = alive(world).map(({ id, zone }) => `aws:///${zone}/${id}`);
      const same = [ids, nodes.map(({ spec }) => spec.providerID), claims.map(({ status }) => status?.providerID)].map((all) =>
        [...all].sort().join(),
      );
      const up = claims.every((claim) => conditionTrue(claim, "Initialized") && claim.metadata.deletionTimestamp === undefined);
      if (up && records === machines && ids.length === machines && new Set(same).size === 1) return true;
      throw new Error(`${ids.length} machines, ${nodes.length} nodes, ${claims.length} claims, ${records} records`);
    },
    { timeoutMs: LONG, everyMs: 500 },
  );
}

/**
 * How many machines were launched that are not in `before`; each must be for another NodeClaim. One that was launched
 * together with others has the tag of its own once its node is initialized, and until then counts as its own.
 */
export function launchedOnce(world: E2eWorld, before: ReadonlySet<string>): number {
  const launches = [...world.fake.state.instances.values()]
    .filter(({ id }) => !before.has(id))
    .map(({ id, tags }) => tags.get(CLAIM_UID_TAG) ?? id);
  expect(launches.length > 0 && new Set(launches).size === launches.length, () => `${launches.length} machines: ${launches.join(" ")}`);
  return launches.length;
}
