import type { Node } from "../core/model/node.ts";
import type { Pod } from "../core/model/pod.ts";
import { podKey } from "../core/pods/predicates.ts";
import type { Lab } from "./host.ts";
import { pendingReasons } from "./summary.ts";

/** The state at the end of a run, for tests of manifests; docs/lab-report.md describes the fields. */
export interface LabReport {
  readonly pods: readonly {
    readonly namespace: string;
    readonly name: string;
    readonly phase: string;
    /** The node that the pod is bound to. */
    readonly node: string | null;
    /** Why a pending pod waits. */
    readonly reason: string | null;
    /** From the start to the start of the pod, s of virtual time. */
    readonly startedAfter: number | null;
  }[];
  readonly nodes: readonly {
    readonly name: string;
    /** Null, as the fields below, for a node that no NodePool launched. */
    readonly nodePool: string | null;
    readonly instanceType: string | null;
    readonly zone: string | null;
    readonly capacityType: string | null;
    /** USD. */
    readonly pricePerHour: number | null;
    /** Pods that are bound to the node and have not ended. */
    readonly pods: number;
  }[];
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

export interface RunFacts {
  /** Why each pod could not be scheduled when it was last tried, by "namespace/name". */
  readonly waiting: ReadonlyMap<string, string>;
  readonly evicted: number;
  /** ms since the epoch. */
  readonly start: number;
}

/** The report of a lab as it is now. Lists are in the order of names, so that a seed always gives the same text. */
export async function labReport(lab: Lab, { waiting, evicted, start }: RunFacts): Promise<LabReport> {
  const { store, clock } = lab.world;
  const pods = byName(store.list("Pod") as readonly Pod[]);
  const reasons = await pendingReasons(lab, waiting);
  const machines = lab.cloud.machines();
  const prices = new Map(machines.map(({ instance, price }) => [instance.id, price]));
  const isActive = ({ status }: Pod): boolean => status?.phase !== "Succeeded" && status?.phase !== "Failed";
  return {
    pods: pods.map((pod) => ({
      namespace: pod.metadata.namespace ?? "default",
      name: pod.metadata.name,
      phase: pod.status?.phase ?? "Pending",
      node: pod.spec.nodeName ?? null,
      reason: reasons.get(podKey(pod)) ?? null,
      startedAfter: secondsUntil(pod.status?.startTime, start),
    })),
    nodes: byName(store.list("Node") as readonly Node[]).map(({ metadata, spec }) => ({
      name: metadata.name,
      nodePool: metadata.labels?.["karpenter.sh/nodepool"] ?? null,
      instanceType: metadata.labels?.["node.kubernetes.io/instance-type"] ?? null,
      zone: metadata.labels?.["topology.kubernetes.io/zone"] ?? null,
      capacityType: metadata.labels?.["karpenter.sh/capacity-type"] ?? null,
      pricePerHour: prices.get(spec.providerID?.split("/").at(-1) ?? "") ?? null,
      pods: pods.filter((pod) => pod.spec.nodeName === metadata.name && isActive(pod)).length,
    })),
    launched: machines.length,
    terminated: machines.filter(({ endedAt }) => endedAt !== undefined).length,
    evicted,
    dollars: Math.round(lab.cloud.costs().reduce((sum, { usd }) => sum + usd, 0) * 1e6) / 1e6,
    seconds: Math.round((clock.now() - start) / 1000),
  };
}

const secondsUntil = (time: string | undefined, start: number): number | null =>
  time === undefined ? null : Math.round((Date.parse(time) - start) / 1000);

function byName<T extends { readonly metadata: { readonly namespace?: string; readonly name: string } }>(
  objects: readonly T[],
): readonly T[] {
  const key = ({ metadata }: T): string => `${metadata.namespace ?? ""}/${metadata.name}`;
  return [...objects].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
