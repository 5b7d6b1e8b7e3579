import type { Condition } from "#core/model/kubernetes.ts";
import type { Pod } from "#core/model/pod.ts";
import { type ApiObject, timestamp } from "#manifests/api-object.ts";
import type { MutableObject } from "../store.ts";
import { type LabWorld, USER } from "../world.ts";
import { isTerminal, isTerminating, podsOf, withCondition } from "./actor.ts";

/**
 * Annotations that set the pace of a pod, as durations like "90s"; the fake kubelet of the end-to-end test reads the
 * same ones.
 */
const START_AFTER = "testcluster/start-after";
const COMPLETE_AFTER = "testcluster/complete-after";
const STOP_AFTER = "testcluster/stop-after";
/**
 * Annotation of a pod template: how many seconds of virtual time a pod runs until it has Succeeded. A pod with
 * restartPolicy Always never ends.
 */
export const RUN_SECONDS = "lab.karpenter-serverless/run-seconds";
/** How long the pod of a Job runs without such an annotation. */
export const DEFAULT_RUN_SECONDS = 60;
/** Whether a text is a number of seconds as the annotation takes it. */
export const isRunSeconds = (text: string): boolean => /^\d+(\.\d+)?$/.test(text);

/** The kubelets of all nodes. */
export interface Kubelets {
  /** Registers a node, which becomes Ready after `readyAfterMs`. A node of that name that exists already is kept. */
  join(node: ApiObject, readyAfterMs: number): void;
  /** Ends a kubelet: its heartbeats stop, and its pods stay as they are. */
  die(nodeName: string): void;
  /** Starts the kubelet of a machine that was booted again: its node has the boot id, and is Ready a little later. */
  boot(nodeName: string, bootID: string): void;
  isAlive(nodeName: string): boolean;
}

export function startKubelets(world: LabWorld): Kubelets {
  const { clock, store } = world;
  const random = world.random.fork("kubelet");
  /** The pending timers of pods, so that one change is handled once. */
  const busy = new Set<string>();
  const alive = new Set<string>();

  const onNode = (pod: Pod): boolean => pod.spec.nodeName !== undefined && alive.has(pod.spec.nodeName);
  const user = (pod: Pod): string => `system:node:${pod.spec.nodeName}`;
  const later = (pod: Pod, what: string, ms: number, fn: (pod: Pod) => void): void => {
    const key = `${what} ${pod.metadata.uid}`;
    if (busy.has(key)) return;
    busy.add(key);
    clock.after(ms, `kubelet ${what} ${pod.metadata.name}`, () => {
      busy.delete(key);
      const now = store.byUid(pod.metadata.uid ?? "") as unknown as Pod | undefined;
      if (now && onNode(now)) fn(now);
    });
  };

  const start = (pod: Pod): void => {
    if (isTerminating(pod) || pod.status?.phase !== "Pending") return;
    store.patch("Pod", pod.metadata.name, pod.metadata.namespace, { user: user(pod), subresource: "status" }, (o: MutableObject) => {
      o.status = {
        ...o.status,
        phase: "Running",
        startTime: timestamp(clock.now()),
        conditions: ready(o.status.conditions, true, clock.now()),
      };
      return o;
    });
    const completes = duration(pod, COMPLETE_AFTER) ?? runMs(pod);
    if (completes !== undefined) later(pod, "finish", completes, finish);
  };
  const finish = (pod: Pod): void => {
    if (isTerminal(pod)) return;
    store.patch("Pod", pod.metadata.name, pod.metadata.namespace, { user: user(pod), subresource: "status" }, (o: MutableObject) => {
      o.status = { ...o.status, phase: "Succeeded", conditions: ready(o.status.conditions, false, clock.now()) };
      return o;
    });
  };
  const remove = (pod: Pod): void => {
    store.delete(
      "Pod",
      pod.metadata.name,
      { namespace: pod.metadata.namespace, uid: pod.metadata.uid, gracePeriodSeconds: 0 },
      { user: user(pod) },
    );
  };
  const handle = (pod: Pod): void => {
    if (!onNode(pod)) return;
    if (isTerminating(pod)) {
      const grace = (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1000;
      const ms = isTerminal(pod) ? 0 : Math.min(grace, duration(pod, STOP_AFTER) ?? world.times.stopMs(grace, random));
      later(pod, `stop within ${grace}`, ms, remove);
    } else if (pod.status?.phase === "Pending") {
      later(pod, "start", duration(pod, START_AFTER) ?? random.between(800, 1_500), start);
    }
  };

  const run = (nodeName: string, readyAfterMs: number): void => {
    alive.add(nodeName);
    clock.after(readyAfterMs, `kubelet ready ${nodeName}`, () => {
      if (!alive.has(nodeName)) return;
      store.patch("Node", nodeName, undefined, { user: `system:node:${nodeName}`, subresource: "status" }, (o: MutableObject) => {
        const condition = { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" } as const;
        o.status = { ...o.status, conditions: withCondition(o.status?.conditions, condition, clock.now()) };
        return o;
      });
    });
    for (const pod of podsOf(world)) if (pod.spec.nodeName === nodeName) handle(pod);
  };

  world.onChange(({ kind, type, object, user: who }) => {
    if (kind === "Pod" && type !== "DELETED") handle(object as unknown as Pod);
    // A node that a manifest creates is a machine outside of the lab's cloud.
    if (kind === "Node" && type === "ADDED" && who === USER) run(object.metadata.name, 0);
  });

  return {
    join(node, readyAfterMs) {
      const { name } = node.metadata;
      if (!store.get("Node", name)) store.create(node, { user: `system:node:${name}` });
      run(name, readyAfterMs);
    },
    die: (nodeName) => {
      if (alive.delete(nodeName)) clock.touch();
    },
    boot(nodeName, bootID) {
      store.patch("Node", nodeName, undefined, { user: `system:node:${nodeName}`, subresource: "status" }, (o: MutableObject) => {
        const starting = { type: "Ready", status: "False", reason: "KubeletNotReady", message: "the node has just booted" } as const;
        o.status = {
          ...o.status,
          nodeInfo: { ...o.status?.nodeInfo, bootID },
          conditions: withCondition(o.status?.conditions, starting, clock.now()),
        };
        return o;
      });
      run(nodeName, 5_000);
    },
    isAlive: (nodeName) => alive.has(nodeName),
  };
}

function ready(conditions: readonly Condition[] | undefined, is: boolean, now: number): readonly Condition[] {
  let next = conditions;
  for (const type of ["Initialized", "ContainersReady", "Ready"]) {
    next = withCondition(next, { type, status: is || type === "Initialized" ? "True" : "False" }, now);
  }
  return next ?? [];
}

/** How long the pod runs until it has Succeeded, ms; undefined when it never ends. */
function runMs({ metadata, spec }: Pod): number | undefined {
  const seconds = metadata.annotations?.[RUN_SECONDS];
  const isJob = metadata.ownerReferences?.some((o) => o.kind === "Job") ?? false;
  if (!isJob && (spec as { readonly restartPolicy?: string }).restartPolicy === "Always") return undefined;
  if (seconds !== undefined && isRunSeconds(seconds)) return Number(seconds) * 1_000;
  return isJob ? DEFAULT_RUN_SECONDS * 1_000 : undefined;
}

/** The duration of an annotation ("1h30m", "90s", "250ms") in ms; undefined when it is absent or unreadable. */
function duration(pod: Pod, annotation: string): number | undefined {
  const text = pod.metadata.annotations?.[annotation];
  if (text === undefined || !/^(\d+(ms|s|m|h))+$/.test(text)) return undefined;
  const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
  return [...text.matchAll(/(\d+)(ms|s|m|h)/g)].reduce((sum, [, n, unit = "s"]) => sum + Number(n) * (units[unit] ?? 0), 0);
}
