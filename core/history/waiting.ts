import { roundRobin } from "../lib/round-robin.ts";
import type { PodsWaited } from "../model/history-entry.ts";
import type { Pod } from "../model/pod.ts";
import { bounded } from "./claim-entries.ts";

/** Controllers (or lone pods) whose wait one pass writes; each tenant's first. No benchmark has tuned it. */
const MAX_GROUPS = 50;
/** Names of pods that an entry lists, and reasons that it keeps. */
const MAX_NAMES = 20;
const MAX_REASONS = 5;

/** Between two writes of one wait at least; a changed reason is written sooner. */
const MIN_STEP_MS = 5 * 60_000;
const MIN_CHANGE_MS = 60_000;
/** A long wait is written more rarely, so that its length is known to an eighth, and a day costs some forty writes. */
const STEP_SHARE = 1 / 8;

/** A pod that no plan places, and why. */
export interface WaitingPod {
  readonly pod: Pod;
  readonly error: string;
}

const stepOf = ({ since, at }: PodsWaited): number => Math.max(MIN_STEP_MS, (at - since) * STEP_SHARE);
const createdAt = ({ metadata }: Pod, now: number): number => {
  const created = Date.parse(metadata.creationTimestamp ?? "");
  return Number.isNaN(created) ? now : created;
};
const namespaceOf = ({ metadata }: Pod): string => metadata.namespace ?? "default";

function ownerOf({ metadata }: Pod): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller) ?? metadata.ownerReferences?.[0];
  return owner === undefined ? `Pod/${metadata.name}` : `${owner.kind}/${owner.name}`;
}

/** Numbers in a reason change with each pass, which makes no other reason of it. */
const withoutNumbers = (text: string): string => text.replace(/\d+(\.\d+)?/g, "0");

/**
 * The entries to write for the pods that wait at `now` (ms): one for each controller, and only where there is something
 * new to say. `known` are the waits that were written within the last day; a wait that was seen not long ago continues.
 */
export function waitsToWrite(
  cluster: string,
  waiting: readonly WaitingPod[],
  known: readonly PodsWaited[],
  now: number,
): readonly PodsWaited[] {
  const keyOf = (namespace: string, owner: string): string => `${namespace}/${owner}`;
  const latest = new Map<string, PodsWaited>();
  for (const one of known) {
    const key = keyOf(one.namespace, one.owner);
    if ((latest.get(key)?.at ?? Number.NEGATIVE_INFINITY) < one.at) latest.set(key, one);
  }
  const groups = Map.groupBy(waiting, ({ pod }) => keyOf(namespaceOf(pod), ownerOf(pod)));
  const entries = [...groups.values()].flatMap((group): readonly PodsWaited[] => {
    const [first] = group;
    if (first === undefined) return [];
    const [namespace, owner] = [namespaceOf(first.pod), ownerOf(first.pod)];
    const before = latest.get(keyOf(namespace, owner));
    const goesOn = before !== undefined && now - before.at <= 2 * stepOf(before);
    const since = goesOn ? before.since : Math.min(...group.map(({ pod }) => createdAt(pod, now)));
    const text = bounded(first.error);
    const reasons = goesOn ? before.reasons : [];
    const isSame = withoutNumbers(reasons.at(-1)?.text ?? "") === withoutNumbers(text);
    if (goesOn && now - before.at < (isSame ? stepOf(before) : MIN_CHANGE_MS)) return [];
    const pods = group.map(({ pod }) => pod.metadata.name).sort();
    return [
      {
        ...{ type: "PodsWaited", cluster, at: now, namespace, owner, since },
        pods: pods.slice(0, MAX_NAMES),
        podCount: pods.length,
        reasons: isSame
          ? [...reasons.slice(0, -1), { at: reasons.at(-1)?.at ?? now, text }]
          : [...reasons, { at: now, text }].slice(-MAX_REASONS),
      },
    ];
  });
  return roundRobin(entries, ({ namespace }) => namespace, Math.floor(now / MIN_CHANGE_MS)).slice(0, MAX_GROUPS);
}

/** Whether the pod is, or may be, one of the pods that waited: their names are listed up to a bound. */
export function waitedWith(
  { namespace, owner, pods, podCount }: PodsWaited,
  pod: { readonly namespace: string; readonly name: string },
): boolean {
  if (namespace !== pod.namespace) return false;
  if (pods.includes(pod.name)) return true;
  const name = owner.slice(owner.indexOf("/") + 1);
  return podCount > pods.length && pod.name.startsWith(`${name}-`);
}
