import { isTrue } from "#core/model/conditions.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import { createLab, type Lab } from "#lab/host.ts";
import type { CallHooks, PortCall } from "#lab/world/intercept.ts";
import { CATALOGUE, deployment, FAMILIES, NODE_CLASS, nodePool, ON_DEMAND, START } from "../story.ts";

/** Remote calls in one phase of a course: how often each request, as in "get nodeclaims", was made. */
export interface Phase {
  readonly name: string;
  /** Virtual seconds that the phase took. */
  readonly seconds: number;
  /** Requests to the API server, by function and then by verb and kind. */
  readonly kube: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Calls of the table, by function and then by method. */
  readonly table: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export interface Course {
  /** NodeClaims that were made. */
  readonly claims: number;
  readonly phases: readonly Phase[];
}

const SECOND = 1_000;
const PODS = 40;

/** Two NodePools of different weights; the limit of the heavier one leaves pods to the lighter. */
const POOLS = [pool("heavy", 50, 24), pool("light", 1, 1_000)];

function pool(name: string, weight: number, cpu: number) {
  const made = nodePool([ON_DEMAND, FAMILIES], { weight, limits: { cpu } });
  return { ...made, metadata: { name } };
}

/**
 * Plays one course in the lab and counts the requests of the functions in each phase: 40 pods are planned for over two
 * NodePools, their NodeClaims are launched, registered and initialized, then kept for five minutes; 30 of the pods go,
 * and consolidation removes nodes.
 */
export async function playCourse(): Promise<Course> {
  const counter = requestCounter();
  const lab = createLab({ seed: 1, start: START, region: "us-west-2", sources: ["notify"], catalogue: CATALOGUE, hooks: counter.hooks });
  for (const object of [NODE_CLASS, ...POOLS, deployment(0, { cpu: "1" })]) lab.world.apply(object);
  const pass = (ms: number) => lab.world.clock.run({ until: lab.world.clock.now() + ms });
  await pass(65 * SECOND);
  counter.take();
  const phases: Phase[] = [];
  const phase = async (name: string, isOver: (seconds: number) => boolean): Promise<void> => {
    let seconds = 0;
    do await pass(SECOND);
    while (!isOver(++seconds) && seconds < 1_800);
    phases.push({ name, seconds, ...counter.take() });
  };
  const scale = (replicas: number): void => lab.world.scale("Deployment", "default", "inflate", replicas);
  const all = (condition: string) => claimsOf(lab).length > 0 && claimsOf(lab).every(({ status }) => isTrue(status?.conditions, condition));

  scale(PODS);
  await phase("launch", () => all("Launched"));
  await phase("register", () => all("Registered"));
  await phase("initialize", () => all("Initialized"));
  await phase("bind", (seconds) => seconds >= 10);
  const claims = claimsOf(lab).length;
  await phase("keep", (seconds) => seconds >= 300);
  scale(PODS / 4);
  await phase("consolidate", (seconds) => seconds >= 300);
  lab.close();
  return { claims, phases };
}

const claimsOf = (lab: Lab) => lab.world.store.list("NodeClaim") as unknown as readonly NodeClaim[];

type Counts = Record<string, Record<string, number>>;

/** Counts what functions ask of the API server and of the table; `take` returns the counts since the last call. */
export function requestCounter() {
  let kube: Counts = {};
  let table: Counts = {};
  const count = (counts: Counts, { invocation }: PortCall, request: string): void => {
    const name = invocation?.name ?? "?";
    const byRequest = counts[name] ?? {};
    counts[name] = byRequest;
    byRequest[request] = (byRequest[request] ?? 0) + 1;
  };
  const hooks: CallHooks = {
    before(call) {
      if (call.port === "kubernetes") count(kube, call, kubeRequest(call));
      if (call.port === "store") count(table, call, call.method);
      return undefined;
    },
  };
  const take = () => {
    const taken = { kube, table };
    [kube, table] = [{}, {}];
    return taken;
  };
  return { hooks, take };
}

/** As the audit log names a request, with the kind for the resource. */
function kubeRequest({ method, args: [about] }: PortCall): string {
  const others: Readonly<Record<string, string>> = {
    evict: "create Pod/eviction",
    nominate: "patch Pod/status",
    publish: "create Event",
    version: "get /version",
    updateStatus: `update ${String(about)}/status`,
  };
  return others[method] ?? `${method} ${String(about)}`;
}

export const total = (counts: Readonly<Record<string, Readonly<Record<string, number>>>>): number =>
  Object.values(counts).reduce((sum, byRequest) => sum + Object.values(byRequest).reduce((one, n) => one + n, 0), 0);
