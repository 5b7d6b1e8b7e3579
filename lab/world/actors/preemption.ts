import type { LabelSelector } from "../../../core/model/kubernetes.ts";
import type { Pod } from "../../../core/model/pod.ts";
import type { PodDisruptionBudget } from "../../../core/model/workloads.ts";
import { matchesSelector } from "../../../functions/adapters/manifests/selectors.ts";
import { isTerminating } from "./actor.ts";
import { type Room, roomWith, withPod } from "./rooms.ts";

/** The reason of the condition DisruptionTarget that kube-scheduler writes to a victim. */
export const PREEMPTED = "PreemptionByScheduler";
/** Added to each priority so that their sum grows with each victim, also with victims of negative priority. */
const PRIORITY_OFFSET = 2 ** 31;

/** The node that a pod gets once its victims are gone. */
export interface Preemption {
  readonly room: Room;
  readonly victims: readonly Pod[];
}

export const priorityOf = ({ spec }: Pod): number => spec.priority ?? 0;

/** Whether kube-scheduler has chosen the pod as a victim. */
export const isPreempted = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, reason }) => type === "DisruptionTarget" && reason === PREEMPTED) ?? false;

/** Whether the room fits the pod in a cluster where the room stands for its node. */
export type Fits = (room: Room) => boolean;

/**
 * Whether the pod may preempt: its policy is not Never, and no victim of an earlier preemption still terminates on its
 * nominated node. A nominated node that does not fit the pod even without its victims is given up, as in kube-scheduler
 * (kubernetes: pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go, PodEligibleToPreemptOthers).
 */
export function mayPreempt(pod: Pod, nominated: Room | undefined, fits: Fits): "yes" | "never" | "waits" {
  if ((pod.spec as { readonly preemptionPolicy?: string }).preemptionPolicy === "Never") return "never";
  const isLower = (p: Pod): boolean => priorityOf(p) < priorityOf(pod);
  if (!nominated?.pods.some((p) => isLower(p) && isTerminating(p) && isPreempted(p))) return "yes";
  return fits(without(nominated, isLower)) ? "waits" : "yes";
}

/** The room without some of its pods. */
export const without = ({ node, pods }: Room, isRemoved: (pod: Pod) => boolean): Room =>
  roomWith(
    node,
    pods.filter((pod) => !isRemoved(pod)),
  );

/**
 * The node whose pods of lower priority give way to the pod; undefined when no node fits the pod even without them. The
 * preferred node has the fewest victims that a PodDisruptionBudget protects, then the lowest highest priority of a
 * victim, the smallest sum of priorities, the fewest victims, and the latest start of its most important victims
 * (kubernetes: pkg/scheduler/framework/preemption/preemption.go, pickOneNodeForPreemption). `draw` decides a tie.
 */
export function preemption(
  pod: Pod,
  rooms: readonly Room[],
  budgets: readonly PodDisruptionBudget[],
  now: number,
  fits: Fits,
  draw: (ties: readonly PreemptionCandidate[]) => PreemptionCandidate | undefined,
): Preemption | undefined {
  let best: PreemptionCandidate[] = [];
  for (const room of rooms) {
    const candidate = candidateOf(pod, room, budgets, now, fits);
    if (!candidate) continue;
    const order = best[0] ? compared(candidate.cost, best[0].cost) : -1;
    if (order < 0) best = [candidate];
    else if (order === 0) best.push(candidate);
  }
  return draw(best);
}

export interface PreemptionCandidate extends Preemption {
  /** The criteria in their order; less is better. */
  readonly cost: readonly number[];
}

function compared(a: readonly number[], b: readonly number[]): number {
  for (const [i, value] of a.entries()) if (value !== b[i]) return value - (b[i] ?? 0);
  return 0;
}

/**
 * Takes all pods of lower priority from the node, then gives back those that fit beside the pod: first the pods that a
 * budget protects, then the others, the most important first.
 */
function candidateOf(
  pod: Pod,
  room: Room,
  budgets: readonly PodDisruptionBudget[],
  now: number,
  fits: Fits,
): PreemptionCandidate | undefined {
  const lower = room.pods.filter((p) => priorityOf(p) < priorityOf(pod)).sort((a, b) => importance(a, b, now));
  if (lower.length === 0) return undefined;
  let left = without(room, (p) => lower.includes(p));
  if (!fits(left)) return undefined;
  const guarded = violations(lower, budgets);
  const victims = new Set<Pod>();
  for (const other of [...lower.filter((p) => guarded.has(p)), ...lower.filter((p) => !guarded.has(p))]) {
    const tried = withPod(left, other);
    if (fits(tried)) left = tried;
    else victims.add(other);
  }
  const ordered = lower.filter((p) => victims.has(p));
  const highest = ordered[0];
  if (!highest) return undefined;
  const firstStart = Math.min(...ordered.filter((p) => priorityOf(p) === priorityOf(highest)).map((p) => startOf(p, now)));
  const violated = ordered.filter((p) => guarded.has(p)).length;
  const sum = ordered.reduce((total, p) => total + priorityOf(p) + PRIORITY_OFFSET, 0);
  return { room, victims: ordered, cost: [violated, priorityOf(highest), sum, ordered.length, -firstStart] };
}

const startOf = ({ status }: Pod, now: number): number => (status?.startTime === undefined ? now : Date.parse(status.startTime));

/** The more important pod comes first: the one of higher priority, or the one that started earlier. */
const importance = (a: Pod, b: Pod, now: number): number => priorityOf(b) - priorityOf(a) || startOf(a, now) - startOf(b, now);

/** The pods whose removal, one after the other, exceeds what a PodDisruptionBudget allows. */
function violations(pods: readonly Pod[], budgets: readonly PodDisruptionBudget[]): ReadonlySet<Pod> {
  const allowed = budgets.map((b) => (b.status as { readonly disruptionsAllowed?: number } | undefined)?.disruptionsAllowed ?? 0);
  const found = new Set<Pod>();
  for (const pod of pods) {
    const { labels = {}, namespace } = pod.metadata;
    if (Object.keys(labels).length === 0) continue;
    for (const [i, budget] of budgets.entries()) {
      const selector = budget.spec.selector as LabelSelector | undefined;
      if (budget.metadata.namespace !== namespace || isEmpty(selector) || !matchesSelector(selector, labels)) continue;
      allowed[i] = (allowed[i] ?? 0) - 1;
      if ((allowed[i] ?? 0) < 0) found.add(pod);
    }
  }
  return found;
}

/** For preemption, a budget with an empty selector protects no pod. */
const isEmpty = (selector: LabelSelector | undefined): boolean =>
  Object.keys(selector?.matchLabels ?? {}).length + (selector?.matchExpressions ?? []).length === 0;
