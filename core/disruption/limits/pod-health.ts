import { conditionOf, fromRfc3339 } from "../../model/conditions.ts";
import type { Pod } from "../../model/pod.ts";
import { isTerminating, podUid } from "../../pods/predicates.ts";

/** By owner how many of its pods had to move, and how many of its pods were not well before. */
export type MovedPods = Readonly<Record<string, readonly [moved: number, unwellBefore: number]>>;

/** Owners that are remembered of one window: enough to judge by. */
const MAX_OWNERS = 500;

/** The controller of a pod, which makes the pod that takes its place; of a bare pod the pod itself. */
const ownerOf = (pod: Pod): string => pod.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid ?? podUid(pod);

const isOfJob = ({ metadata }: Pod): boolean => metadata.ownerReferences?.some(({ kind }) => kind === "Job") === true;

/**
 * Whether a pod does not do its work, or has done it for no longer than since `readyBefore` (ms since the epoch). A
 * Job's pod that waits or has ended may be well: it is unwell once it fails.
 */
function isUnwell(pod: Pod, readyBefore: number): boolean {
  if (isTerminating(pod)) return false;
  const { phase, conditions } = pod.status ?? {};
  if (phase === "Failed" || isOfJob(pod)) return phase === "Failed";
  if (phase === "Succeeded") return false;
  const ready = conditionOf(conditions, "Ready");
  return ready?.status !== "True" || fromRfc3339(ready.lastTransitionTime) > readyBefore;
}

function countPods(pods: readonly Pod[], isCounted: (pod: Pod) => boolean): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const pod of pods) if (isCounted(pod)) counts.set(ownerOf(pod), (counts.get(ownerOf(pod)) ?? 0) + 1);
  return counts;
}

/** What is known of pods before they move, added to what has moved already. */
export function withMoved(before: MovedPods, moving: readonly Pod[], all: readonly Pod[]): MovedPods {
  const unwell = countPods(all, (pod) => isUnwell(pod, Number.POSITIVE_INFINITY));
  const after = { ...before };
  for (const pod of moving) {
    const owner = ownerOf(pod);
    const known = after[owner];
    if (known === undefined && Object.keys(after).length >= MAX_OWNERS) continue;
    after[owner] = known ? [known[0] + 1, known[1]] : [1, unwell.get(owner) ?? 0];
  }
  return after;
}

/**
 * The share of the pods that moved that are as well as before, and have been since `readyBefore`; 1 where none moved.
 * Pods that were unwell before count for none, and one that moved several times counts once.
 */
export function shareWell(moved: MovedPods, pods: readonly Pod[], readyBefore = Number.POSITIVE_INFINITY): number {
  const unwell = countPods(pods, (pod) => isUnwell(pod, readyBefore));
  const present = countPods(pods, (pod) => !isTerminating(pod));
  let [all, worse] = [0, 0];
  for (const [owner, [count, before]] of Object.entries(moved)) {
    const counted = Math.min(count, present.get(owner) ?? 0);
    all += counted;
    worse += Math.min(counted, Math.max(0, (unwell.get(owner) ?? 0) - before));
  }
  return all === 0 ? 1 : 1 - worse / all;
}

/** The pods of owners whose pods moved, by whether they are well now. */
export function unwellOf(moved: MovedPods, pods: readonly Pod[]): { readonly unwell: readonly Pod[]; readonly well: readonly Pod[] } {
  const own = pods.filter((pod) => Object.hasOwn(moved, ownerOf(pod)) && !isTerminating(pod));
  const isBad = (pod: Pod): boolean => isUnwell(pod, Number.POSITIVE_INFINITY);
  return { unwell: own.filter(isBad), well: own.filter((pod) => !isBad(pod)) };
}
