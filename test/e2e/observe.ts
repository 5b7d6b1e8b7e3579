import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { NODE_CLAIM_TAG } from "../../core/model/tags.ts";
import type { FakeInstance } from "./fake-aws/world.ts";
import { type GrowingLog, growingLog } from "./support/growing-log.ts";
import { eventually } from "./support/wait.ts";
import type { E2eWorld } from "./world.ts";

// What stories look at: objects of the API server, machines, the audit log.

export const MINUTE = 60_000;

/** A bound for all that shall come, on a machine that does much else: it tells what never comes from what is late. How long it took is printed. */
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

export async function list({ cluster }: E2eWorld, resource: keyof typeof PATHS): Promise<readonly Thing[]> {
  return (await cluster.get<{ items: readonly Thing[] }>(PATHS[resource])).items;
}

/** Those that nobody has asked to go. */
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

/** The machines that EC2 has and is not ending. */
export function alive(world: E2eWorld) {
  return [...world.fake.state.instances.values()].filter(({ state }) => state !== "terminated" && state !== "shutting-down");
}

/** The machines that carry a claim's name, and are not ending. */
export const machinesOf = (world: E2eWorld, claim: string): readonly FakeInstance[] =>
  alive(world).filter(({ tags }) => tags.get(NODE_CLAIM_TAG) === claim);

/** Waits until a condition of a claim is true. */
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

/** Waits until a claim's node is initialized; gives its one machine. */
export async function initialized(world: E2eWorld, claim: string): Promise<FakeInstance> {
  await hasCondition(world, claim, "Initialized");
  const [machine, ...others] = machinesOf(world, claim);
  if (machine === undefined || others.length > 0)
    throw new Error(`NodeClaim ${claim} has not one machine, but ${machinesOf(world, claim).length}`);
  return machine;
}

/** Calls of an action whose number is higher. */
export const callsSince = ({ fake }: E2eWorld, after: number, action: string) =>
  fake.state.calls.filter((call) => call.number > after && call.action === action);

/** The number of the newest call. */
export const lastCall = ({ fake }: E2eWorld): number => fake.state.calls.at(-1)?.number ?? 0;

/** No node, no claim, no intent, no machine. */
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

/** The least number of ready pods that was seen while `during` ran. */
export async function leastReady(world: E2eWorld, during: () => Promise<void>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  let watching = true;
  const watch = (async () => {
    while (watching) {
      // A look that the API server is too busy for tells nothing of the pods.
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

/** The parts of an audit record that stories look at. */
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
 * Records since a moment, oldest first; `matches` sees the text, since parsing all of it would take seconds. The API server writes a record once it has
 * answered, so what a story has just seen may come a little later: wait for it.
 */
export function auditRecords(world: E2eWorld, from: number, matches: (line: string) => boolean): readonly AuditRecord[] {
  return linesSince(world.cluster.auditLog, from)
    .filter(matches)
    .map((line) => JSON.parse(line) as AuditRecord)
    .filter(({ stageTimestamp }) => Date.parse(stageTimestamp) >= from);
}

/** Evictions that were asked for since then, with what the API server answered: 201, or 429 when a budget holds. */
export function evictions(world: E2eWorld, from: number, code: 201 | 429): readonly AuditRecord[] {
  return auditRecords(world, from, (line) => line.includes('"subresource":"eviction"')).filter(
    ({ responseStatus }) => responseStatus?.code === code,
  );
}

/** When the first TerminateInstances after the call of this number came, ms since the epoch. */
export const firstTermination = (world: E2eWorld, after: number): number | undefined =>
  callsSince(world, after, "TerminateInstances")[0]?.time;

/** A line that a function has logged. */
export interface LoggedLine {
  readonly time: string;
  readonly message: string;
}

/** Lines of the functions since a moment whose message begins so, oldest first. What a function does may show before what it says of it: wait for it. */
export function functionLines({ dataDir }: E2eWorld, from: number, beginning: string): readonly LoggedLine[] {
  return linesSince(join(dataDir, "ministack.log"), from)
    .filter((line) => line.includes(`"message":${JSON.stringify(beginning).slice(0, -1)}`))
    .map((line) => JSON.parse(line.slice(line.indexOf("{"))) as LoggedLine)
    .filter(({ time }) => Date.parse(time) >= from);
}
