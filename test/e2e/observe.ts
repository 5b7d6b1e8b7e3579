import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NODE_CLAIM_TAG } from "../../core/model/tags.ts";
import type { FakeInstance } from "./fake-aws/world.ts";
import { eventually } from "./support/wait.ts";
import type { E2eWorld } from "./world.ts";

// What stories look at: objects of the API server, machines, the audit log.

export const MINUTE = 60_000;

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

export async function running(world: E2eWorld, namespace: string, wanted: number, timeoutMs = 4 * MINUTE): Promise<readonly Thing[]> {
  return eventually(
    `${wanted} pods run`,
    async () => {
      const found = await pods(world, namespace);
      return found.length === wanted && found.every(({ status }) => status?.phase === "Running") ? found : undefined;
    },
    { timeoutMs },
  );
}

/** The machines that EC2 has and is not ending. */
export function alive(world: E2eWorld) {
  return [...world.fake.state.instances.values()].filter(({ state }) => state !== "terminated" && state !== "shutting-down");
}

/** The machines that carry a claim's name, and are not ending. */
export const machinesOf = (world: E2eWorld, claim: string): readonly FakeInstance[] =>
  alive(world).filter(({ tags }) => tags.get(NODE_CLAIM_TAG) === claim);

/** Waits until a claim's node is initialized; gives its one machine. */
export async function initialized(world: E2eWorld, claim: string, timeoutMs = 6 * MINUTE): Promise<FakeInstance> {
  await eventually(
    `NodeClaim ${claim} is initialized`,
    async () => {
      const found = (await list(world, "nodeclaims")).find(({ metadata }) => metadata.name === claim);
      if (found !== undefined && conditionTrue(found, "Initialized")) return true;
      throw new Error(JSON.stringify(found?.status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`)));
    },
    { timeoutMs },
  );
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
export async function gone(world: E2eWorld, timeoutMs = 6 * MINUTE): Promise<void> {
  await eventually(
    "nothing is left in EC2, the table or the API server",
    async () => {
      const things = [...(await list(world, "nodes")), ...(await list(world, "nodeclaims"))].map(({ metadata }) => metadata.name);
      const records = await world.items("claim#");
      const left = [...things, ...alive(world).map(({ id }) => id), ...Array(records).fill("record")];
      if (left.length > 0) throw new Error(`there are ${left.join(" ")}`);
      return true;
    },
    { timeoutMs },
  );
}

/** The least number of ready pods that was seen while `during` ran. */
export async function leastReady(world: E2eWorld, during: () => Promise<void>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  let watching = true;
  const watch = (async () => {
    while (watching) least = Math.min(least, (await pods(world)).filter((pod) => conditionTrue(pod, "Ready")).length);
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

/** Records since a moment, oldest first; `matches` sees the text, since parsing all of it would take seconds. */
export function auditRecords(world: E2eWorld, from: number, matches: (line: string) => boolean): readonly AuditRecord[] {
  return readFileSync(world.cluster.auditLog, "utf8")
    .split("\n")
    .filter((line) => line !== "" && matches(line))
    .map((line) => JSON.parse(line) as AuditRecord)
    .filter(({ stageTimestamp }) => Date.parse(stageTimestamp) >= from);
}

/** Evictions that were asked for since then, with what the API server answered: 201, or 429 when a budget holds. */
export function evictions(world: E2eWorld, from: number, code: 201 | 429): readonly AuditRecord[] {
  return auditRecords(world, from, (line) => line.includes('"subresource":"eviction"')).filter(
    ({ responseStatus }) => responseStatus?.code === code,
  );
}

/** When the first TerminateInstances after so many calls came, ms since the epoch. */
export function firstTermination(world: E2eWorld, callsBefore: number): number | undefined {
  const call = world.fake.state.calls.slice(callsBefore).find(({ action }) => action === "TerminateInstances");
  return call && new Date(call.time).getTime();
}

/** A line that a function has logged. */
export interface LoggedLine {
  readonly time: string;
  readonly message: string;
}

/** Lines of the functions since a moment whose message begins so, oldest first. */
export function functionLines({ dataDir }: E2eWorld, from: number, beginning: string): readonly LoggedLine[] {
  return readFileSync(join(dataDir, "ministack.log"), "utf8")
    .split("\n")
    .filter((line) => line.includes(`"message":${JSON.stringify(beginning).slice(0, -1)}`))
    .map((line) => JSON.parse(line.slice(line.indexOf("{"))) as LoggedLine)
    .filter(({ time }) => Date.parse(time) >= from);
}
