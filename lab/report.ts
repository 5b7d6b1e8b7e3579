import { conditionOf } from "#core/model/conditions.ts";
import type { ObjectMeta } from "#core/model/kubernetes.ts";
import { CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL, ZONE } from "#core/model/labels.ts";
import type { Node } from "#core/model/node.ts";
import type { Pod } from "#core/model/pod.ts";
import { podKey } from "#core/pods/predicates.ts";
import type { Lab } from "./host.ts";
import { missingNodeProblem, missingNodes, unregistered } from "./missing-nodes.ts";
import type { RefusedPods } from "./refused-pods.ts";
import { pendingReasons } from "./summary.ts";

interface ReportedNode {
  /** Of the NodeClaim while the node has not registered. */
  readonly name: string;
  readonly state: "Ready" | "NotReady" | "NotRegistered" | "NotLaunched";
  /** Why a node that should be there by now is missing. */
  readonly reason: string | null;
  /** Null, as the fields below, for a node that no NodePool launched. */
  readonly nodePool: string | null;
  readonly instanceType: string | null;
  readonly zone: string | null;
  readonly capacityType: string | null;
  /** USD. */
  readonly pricePerHour: number | null;
  /** Pods that are bound to the node and have not ended. */
  readonly pods: number;
}

/** The state at the end of a run, for tests of manifests; docs/lab-report.md describes the fields. */
export interface LabReport {
  readonly pods: readonly {
    readonly namespace: string;
    readonly name: string;
    /** The kind of its controller: ReplicaSet, DaemonSet, Job and so on. Null for a pod without one. */
    readonly owner: string | null;
    readonly phase: string;
    /** The node that the pod is bound to. */
    readonly node: string | null;
    /** Why a pending pod waits. */
    readonly reason: string | null;
    /** From the start to the start of the pod, s of virtual time. */
    readonly startedAfter: number | null;
  }[];
  readonly nodes: readonly ReportedNode[];
  /** Workloads and pods of which the API server refuses to create pods, and why. */
  readonly refused: readonly RefusedPods[];
  /** Instances since the start, and those of them that have ended. */
  readonly launched: number;
  readonly terminated: number;
  /** Pods that the functions evicted. */
  readonly evicted: number;
  /** USD of all instances, by the second. */
  readonly dollars: number;
  /** Virtual time. */
  readonly seconds: number;
}

interface RunFacts {
  /** Why each pod could not be scheduled when it was last tried, by "namespace/name". */
  readonly waiting: ReadonlyMap<string, string>;
  readonly refused: readonly RefusedPods[];
  readonly evicted: number;
  /** ms since the epoch. */
  readonly start: number;
}

/** The report of a lab as it is now. Lists are in the order of names, so that a seed always gives the same text. */
export async function labReport(lab: Lab, { waiting, refused, evicted, start }: RunFacts): Promise<LabReport> {
  const { store, clock } = lab.world;
  const pods = sorted(store.list("Pod") as readonly Pod[], podKey);
  const reasons = await pendingReasons(lab, waiting);
  const machines = lab.cloud.machines();
  return {
    pods: pods.map((pod) => ({
      namespace: pod.metadata.namespace ?? "default",
      name: pod.metadata.name,
      owner: pod.metadata.ownerReferences?.find(({ controller }) => controller)?.kind ?? null,
      phase: pod.status?.phase ?? "Pending",
      node: pod.spec.nodeName ?? null,
      reason: reasons.get(podKey(pod)) ?? null,
      startedAfter: secondsUntil(pod.status?.startTime, start),
    })),
    nodes: reportedNodes(lab, pods),
    refused,
    launched: machines.length,
    terminated: machines.filter(({ endedAt }) => endedAt !== undefined).length,
    evicted,
    dollars: Math.round(lab.cloud.costs().reduce((sum, { usd }) => sum + usd, 0) * 1e6) / 1e6,
    seconds: Math.round((clock.now() - start) / 1000),
  };
}

function reportedNodes(lab: Lab, pods: readonly Pod[]): readonly ReportedNode[] {
  const prices = new Map(lab.cloud.machines().map(({ instance, price }) => [instance.id, price]));
  const isActive = ({ status }: Pod): boolean => status?.phase !== "Succeeded" && status?.phase !== "Failed";
  const described = ({ labels = {} }: ObjectMeta, providerID: string | undefined) => ({
    nodePool: labels[NODE_POOL] ?? null,
    instanceType: labels[INSTANCE_TYPE] ?? null,
    zone: labels[ZONE] ?? null,
    capacityType: labels[CAPACITY_TYPE] ?? null,
    pricePerHour: prices.get(providerID?.split("/").at(-1) ?? "") ?? null,
  });
  const nodes = (lab.world.store.list("Node") as readonly Node[]).map(
    ({ metadata, spec, status }): ReportedNode => ({
      name: metadata.name,
      state: conditionOf(status?.conditions, "Ready")?.status === "True" ? "Ready" : "NotReady",
      reason: null,
      ...described(metadata, spec.providerID),
      pods: pods.filter((pod) => pod.spec.nodeName === metadata.name && isActive(pod)).length,
    }),
  );
  const missing = missingNodes(lab);
  const claims = unregistered(lab).map(
    (claim): ReportedNode => ({
      name: claim.metadata.name,
      state: claim.status?.providerID === undefined ? "NotLaunched" : "NotRegistered",
      reason: missing.includes(claim) ? missingNodeProblem(claim, lab) : null,
      ...described(claim.metadata, claim.status?.providerID),
      pods: 0,
    }),
  );
  return sorted([...nodes, ...claims], ({ name }) => name);
}

const secondsUntil = (time: string | undefined, start: number): number | null =>
  time === undefined ? null : Math.round((Date.parse(time) - start) / 1000);

const sorted = <T>(list: readonly T[], key: (item: T) => string): readonly T[] => [...list].sort((a, b) => (key(a) < key(b) ? -1 : 1));
