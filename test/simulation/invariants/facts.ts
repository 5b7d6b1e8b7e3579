import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { Pod, PodSpec } from "#core/model/pod.ts";
import type { Lab } from "#lab/host.ts";
import type { SimulatedInstance } from "#lab/world/simulated-instance.ts";

/**
 * Facts about the simulated world, computed without the product's predicates, because a shared mistake would stay
 * hidden.
 */

export const FINALIZER = "karpenter.sh/termination";
/** The tag that names an instance's cluster. */
export const CLUSTER = "eks:eks-cluster-name";
export const CLAIM_UID = "karpenter-serverless/claim-uid";
/** The tag of machines that one call has launched together: their group. */
export const GROUP = "karpenter-serverless/launch-group";
export const CLAIM_NAME = "karpenter.sh/nodeclaim";
export const POOL = "karpenter.sh/nodepool";
const DISRUPTED = "karpenter.sh/disrupted";
/** The condition of broken hardware, and how long it is tolerated under NodeRepair, ms. */
export const SICKNESS = "AcceleratedHardwareReady";
export const SICKNESS_TOLERATED_MS = 10 * 60_000;
export const HOLD = "karpenter.sh/do-not-disrupt";

type Conditioned = {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] } | undefined;
};

export const is = (object: Conditioned | undefined, type: string): boolean =>
  object?.status?.conditions?.some((c) => c.type === type && c.status === "True") ?? false;

/** The instance exists and costs money. */
export const isAlive = ({ instance }: SimulatedInstance): boolean => instance.state !== "terminated" && instance.state !== "shutting-down";

export const instanceIdOf = (providerId: string | undefined): string | undefined => providerId?.split("/").pop();

export const isDisrupted = ({ spec }: Node): boolean => spec.taints?.some(({ key }) => key === DISRUPTED) ?? false;

export function nodeOf(pod: Pod, lab: Lab): Node | undefined {
  return pod.spec.nodeName === undefined ? undefined : (lab.world.store.get("Node", pod.spec.nodeName) as unknown as Node | undefined);
}

export function claimOfInstance(instanceId: string, lab: Lab): NodeClaim | undefined {
  return (lab.world.store.list("NodeClaim") as unknown as readonly NodeClaim[]).find(
    ({ status }) => instanceIdOf(status?.providerID) === instanceId,
  );
}

export function claimOfNode(node: Node | undefined, lab: Lab): NodeClaim | undefined {
  const id = instanceIdOf(node?.spec.providerID);
  return id === undefined ? undefined : claimOfInstance(id, lab);
}

/** When the pods of a NodeClaim must have ended, ms since the epoch; undefined without a deadline. */
export function deadlineOf(claim: NodeClaim | undefined): number | undefined {
  const { deletionTimestamp } = claim?.metadata ?? {};
  const period = claim?.spec.terminationGracePeriod;
  return deletionTimestamp === undefined || period === undefined ? undefined : Date.parse(deletionTimestamp) + durationMs(period);
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** "720h", "1h30m" in ms; Infinity for "Never". */
export function durationMs(text: string): number {
  if (text === "Never") return Number.POSITIVE_INFINITY;
  return [...text.matchAll(/(\d+)([smh])/g)].reduce((sum, [, n, unit = "s"]) => sum + Number(n) * (UNITS[unit] ?? 0), 0);
}

/** Whether karpenter.sh/do-not-disrupt protects a pod now: "true", or a duration ("10m") counted from its start. */
export function isHeld(pod: Pod, now: number): boolean {
  const value = pod.metadata.annotations?.[HOLD];
  if (value === undefined) return false;
  if (value === "true") return true;
  const minutes = /^(\d+)m$/.exec(value)?.[1];
  return (
    minutes !== undefined && (pod.status?.startTime === undefined || now < Date.parse(pod.status.startTime) + Number(minutes) * 60_000)
  );
}

/** vCPUs of a quantity: "250m" or "3". */
export const vcpus = (text: string | number | undefined): number =>
  typeof text === "string" && text.endsWith("m") ? Number.parseInt(text, 10) / 1_000 : Number(text ?? 0);

/** vCPUs that containers ask for. */
export const cpuOf = (containers: PodSpec["containers"] | undefined): number =>
  (containers ?? []).reduce((sum, { resources }) => sum + vcpus(resources?.requests?.["cpu"]), 0);

/** A NodePool that keeps its `replicas`, whatever pods exist. */
export const isStaticPool = ({ spec }: NodePool): boolean => spec.replicas !== undefined;

/** A pod that is neither finished nor being deleted. */
export const isActive = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined && status?.phase !== "Succeeded" && status?.phase !== "Failed";

export const isDaemon = ({ metadata }: Pod): boolean => metadata.ownerReferences?.some(({ kind }) => kind === "DaemonSet") ?? false;

export const nameOf = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`;

/** A label that no node has: a pod that selects it can never run. */
export const NOWHERE = "sim/nowhere";

/** The namespace of odd pods, and the beginning of the names of other odd objects. */
export const ODD = "odd";

/** Whether an object is as the simulation's own are: no twin of another, and none that nobody can understand. */
export const isOrdinary = ({ metadata }: { readonly metadata: { readonly name: string; readonly namespace?: string } }): boolean =>
  metadata.namespace !== ODD && !metadata.name.startsWith(`${ODD}-`);

/** A pod that need not run. */
export const isUnplaceable = ({ metadata, spec }: Pod): boolean => spec.nodeSelector?.[NOWHERE] !== undefined || !isOrdinary({ metadata });

/** The annotation of a NodePool with the most that its nodes may cost together. */
export const CAP = "karpenter-serverless/max-price-per-hour";
/** The annotation of a NodePool with the times at which it sleeps. */
export const SLEEP = "karpenter-serverless/schedule";

/** USD per hour; Infinity without a cap. */
export const capOf = ({ metadata }: NodePool): number => Number(metadata.annotations?.[CAP] ?? Number.POSITIVE_INFINITY);

/**
 * Whether a NodePool sleeps at some time of an interval, ms since the epoch. Schedules are those that draw/features.ts
 * writes: MINUTE HOUR of each day, for so many minutes; nodes are made again five minutes before the end.
 */
export function sleepsWithin({ metadata }: NodePool, from: number, to: number): boolean {
  const [, minute, hour, length] = /^(\d+) (\d+) \* \* \* for (\d+)m$/.exec(metadata.annotations?.[SLEEP] ?? "") ?? [];
  if (minute === undefined) return false;
  const day = to - (to % DAY_MS);
  return [day, day - DAY_MS].some((midnight) => {
    const begin = midnight + (Number(hour) * 60 + Number(minute)) * 60_000;
    return begin <= to && from < begin + (Number(length) - 5) * 60_000;
  });
}
const DAY_MS = 24 * 60 * 60_000;
