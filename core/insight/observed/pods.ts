import { conditionOf, fromRfc3339 } from "../../model/conditions.ts";
import type { Pod } from "../../model/pod.ts";
import type { Workload } from "../../model/workloads.ts";
import { isTerminal, podKey } from "../../pods/predicates.ts";
import { earlier } from "./earlier.ts";
import { controllerOf, Runs } from "./runs.ts";
import { type TraceEntry, uidOf } from "./trace.ts";

/** What pods went through. */
export interface PodFigures {
  /** Pods that were replaced although their owner did not ask for fewer: evictions, interruptions and failures. */
  readonly moves: number;
  /** From the creation of a pod until it was bound, s. */
  readonly waits: { readonly pods: number; readonly p50: number; readonly p95: number; readonly most: number; readonly sum: number };
  /** Pods that were not bound at the end. */
  readonly unbound: readonly string[];
}

/** How pods came to their nodes, and how often they were replaced. */
export class Pods {
  readonly #from: number;
  readonly #runs = new Runs();
  readonly #pods = new Map<string, Pod>();
  readonly #waits = new Map<string, number>();
  /** Pods that were made, less what their owners asked for, by owner. */
  readonly #surplus = new Map<string, number>();
  readonly #replicas = new Map<string, number>();

  constructor(from: number) {
    // The API server writes times in whole seconds.
    this.#from = Math.floor(from / 1_000) * 1_000;
  }

  take({ at, put = {}, gone = [] }: TraceEntry, isFirst: boolean): void {
    const counts = !isFirst && at > this.#from;
    for (const workload of [...(put.ReplicaSet ?? []), ...(put.StatefulSet ?? [])] as unknown as readonly Workload[])
      this.#asked(workload, counts);
    for (const pod of (put.Pod ?? []) as readonly Pod[]) this.#seen(pod, { at, isFirst, counts });
    for (const uid of gone) {
      const pod = this.#pods.get(uid);
      if (pod) this.#runs.gone(pod, at);
      this.#pods.delete(uid);
      // When it comes back, all of its replicas are new.
      this.#replicas.delete(uid);
    }
  }

  #asked({ metadata: { uid = "" }, spec: { replicas = 1 } }: Workload, counts: boolean): void {
    const more = Math.max(0, replicas - (this.#replicas.get(uid) ?? 0));
    this.#replicas.set(uid, replicas);
    this.#surplus.set(uid, (this.#surplus.get(uid) ?? 0) - (counts ? more : 0));
  }

  #seen(pod: Pod, { at, isFirst, counts }: { readonly at: number; readonly isFirst: boolean; readonly counts: boolean }): void {
    const uid = uidOf("Pod", pod);
    const isNew = !this.#pods.has(uid);
    this.#pods.set(uid, pod);
    const owner = controllerOf(pod)?.uid;
    if (owner === undefined || !this.#surplus.has(owner)) this.#runs.seen(pod, at, isFirst);
    else if (isNew && counts) this.#surplus.set(owner, (this.#surplus.get(owner) ?? 0) + 1);
    const wait = waitOf(pod);
    if (wait !== undefined && fromRfc3339(pod.metadata.creationTimestamp) >= this.#from) this.#waits.set(uid, wait);
  }

  figures(end: number): PodFigures {
    const unbound = [...this.#pods].filter(([, pod]) => pod.spec.nodeName === undefined && !isTerminal(pod));
    for (const [uid, pod] of unbound) {
      const created = earlier(fromRfc3339(pod.metadata.creationTimestamp), end);
      this.#waits.set(uid, (end - Math.max(created, this.#from)) / 1_000);
    }
    const sorted = [...this.#waits.values()].sort((a, b) => a - b);
    const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
    const surplus = [...this.#surplus.values()].reduce((sum, n) => sum + Math.max(0, n), 0);
    return {
      moves: surplus + this.#runs.all().reduce((sum, { replaced }) => sum + replaced, 0),
      waits: { pods: sorted.length, p50: at(0.5), p95: at(0.95), most: sorted.at(-1) ?? 0, sum: sorted.reduce((sum, s) => sum + s, 0) },
      unbound: unbound.map(([, pod]) => podKey(pod)).sort(),
    };
  }
}

/** From the creation of a bound pod until it was bound, s. */
function waitOf({ metadata, status, spec }: Pod): number | undefined {
  if (spec.nodeName === undefined) return undefined;
  const bound = fromRfc3339(conditionOf(status?.conditions, "PodScheduled")?.lastTransitionTime);
  const wait = (bound - fromRfc3339(metadata.creationTimestamp)) / 1_000;
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}
