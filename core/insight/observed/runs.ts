import { conditionOf, fromRfc3339 } from "../../model/conditions.ts";
import type { KubernetesObject, OwnerReference } from "../../model/kubernetes.ts";
import type { Pod } from "../../model/pod.ts";
import { isTerminal, podUid } from "../../pods/predicates.ts";
import { earlier } from "./earlier.ts";

/**
 * How long after the end of a pod a new pod of the same controller counts as its replacement: longer than the Job
 * controller waits after the first failures (10, 20, 40 s).
 */
const REPLACED_WITHIN_MS = 120_000;

/** A piece of work that a controller asks for and that pods do, one after another when one is evicted. */
export interface Run {
  /** Its first pod. */
  readonly pod: Pod;
  /** ms since the epoch. */
  readonly from: number;
  /** When the last pod ended or was deleted; undefined when it continues. */
  readonly to: number | undefined;
  /** How long the last pod ran until it had ended by itself, s; undefined when it was deleted or continues. */
  readonly seconds: number | undefined;
  /** How many pods ended before their work was done and were replaced. */
  readonly replaced: number;
}

type OpenRun = { -readonly [Field in keyof Run]: Run[Field] };

/** Follows pods whose controller is no recorded ReplicaSet or StatefulSet, such as those of Jobs. */
export class Runs {
  readonly #all: OpenRun[] = [];
  /** By the uid of the pod that does the work now. */
  readonly #open = new Map<string, OpenRun>();
  /** Work whose pod was deleted before it had ended, by controller. */
  readonly #interrupted = new Map<string, OpenRun[]>();

  /** A pod as a look found it. `isFirst`: in the first look, where pods that have ended are of the past. */
  seen(pod: Pod, at: number, isFirst: boolean): void {
    const run = this.#open.get(podUid(pod));
    if (run === undefined) return void (isTerminal(pod) && isFirst ? undefined : this.#begin(pod, at, isFirst));
    if (isTerminal(pod)) this.#finish(run, pod, at);
  }

  /** A pod that is gone. */
  gone(pod: Pod, at: number): void {
    const uid = podUid(pod);
    const run = this.#open.get(uid);
    if (run === undefined) return;
    this.#open.delete(uid);
    if (run.seconds !== undefined) return;
    run.to = at;
    const owner = controllerOf(pod);
    if (owner !== undefined) this.#interrupted.set(owner.uid, [...(this.#interrupted.get(owner.uid) ?? []), run]);
  }

  all(): readonly Run[] {
    return this.#all;
  }

  #begin(pod: Pod, at: number, isFirst: boolean): void {
    const created = fromRfc3339(pod.metadata.creationTimestamp);
    const from = isFirst ? at : earlier(created, at);
    const replacedRun = this.#takeInterrupted(controllerOf(pod), from);
    const run: OpenRun = replacedRun ?? { pod, from, to: undefined, seconds: undefined, replaced: 0 };
    if (replacedRun === undefined) this.#all.push(run);
    else {
      replacedRun.to = undefined;
      replacedRun.replaced++;
    }
    this.#open.set(podUid(pod), run);
    if (isTerminal(pod)) this.#finish(run, pod, at);
  }

  #takeInterrupted(owner: OwnerReference | undefined, from: number): OpenRun | undefined {
    const waiting = owner && this.#interrupted.get(owner.uid);
    const index = waiting?.findIndex(({ to }) => to !== undefined && from - to < REPLACED_WITHIN_MS) ?? -1;
    return index < 0 ? undefined : waiting?.splice(index, 1)[0];
  }

  #finish(run: OpenRun, pod: Pod, at: number): void {
    if (run.seconds !== undefined) return;
    const ended = fromRfc3339(conditionOf(pod.status?.conditions, "Ready")?.lastTransitionTime);
    run.to = earlier(ended, at);
    const started = fromRfc3339(pod.status?.startTime);
    run.seconds = Math.max(1, Math.round((run.to - (Number.isNaN(started) ? run.from : started)) / 1_000));
  }
}

/** The owner that replaces the object. */
export const controllerOf = ({ metadata }: KubernetesObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller);
