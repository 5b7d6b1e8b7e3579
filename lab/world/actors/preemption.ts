import type { LabelSelector } from "#core/model/kubernetes.ts";
import type { Pod } from "#core/model/pod.ts";
import type { PodDisruptionBudget } from "#core/model/workloads.ts";
import { matchesSelector } from "#manifests/selectors.ts";
import { isTerminating } from "./actor.ts";
import type { Refusal } from "./refusals.ts";
import { type Room, roomWith, withPod } from "./rooms.ts";

/** The reason of the condition DisruptionTarget that kube-scheduler writes to a victim. */
export const PREEMPTED = "PreemptionByScheduler";
/** Added to each priority so that their sum grows with each victim, also with victims of negative priority. */
const PRIORITY_OFFSET = 2 ** 31;

/** The node that a pod gets once its victims are gone. */
interface Preemption {
  readonly room: Room;
  readonly victims: readonly Pod[];
}

export const priorityOf = ({ spec }: Pod): number => spec.priority ?? 0;

/** Whether kube-scheduler has chosen the pod as a victim. */
export const isPreempted = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, reason }) => type === "DisruptionTarget" && reason === PREEMPTED) ?? false;

/** Why a room refuses the pod in a cluster where the room replaces its node. */
type Filter = (room: Room) => Refusal | undefined;

/**
 * Why the pod may not preempt: its policy is Never, or a victim of an earlier preemption still terminates on its
 * nominated node, for which the pod waits. A nominated node that refuses the pod whatever pods it has is given up
 * (kubernetes: pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go, PodEligibleToPreemptOthers).
 */
export function eligibility(
  pod: Pod,
  nominated: Room | undefined,
  refusal: Refusal | undefined,
): { readonly why?: string; readonly isWaiting?: boolean } {
  if ((pod.spec as { readonly preemptionPolicy?: string }).preemptionPolicy === "Never")
    return { why: "not eligible due to preemptionPolicy=Never." };
  if (refusal?.isByPods === false) return {};
  const isLower = (p: Pod): boolean => priorityOf(p) < priorityOf(pod);
  return nominated?.pods.some((p) => isLower(p) && isTerminating(p) && isPreempted(p))
    ? { why: "not eligible due to a terminating pod on the nominated node.", isWaiting: true }
    : {};
}

/** The room without some of its pods. */
const without = ({ node, pods }: Room, isRemoved: (pod: Pod) => boolean): Room =>
  roomWith(
    node,
    pods.filter((pod) => !isRemoved(pod)),
  );

/**
 * The node whose pods of lower priority give way to the pod; when no node fits the pod even without them, the reason of
 * each node. Nodes that refuse the pod whatever pods they have are not tried. The preferred node has the fewest victims
 * that a PodDisruptionBudget protects, then the lowest highest priority of a victim, the smallest sum of priorities,
 * the
 * fewest victims, and the latest start of its most important victims (kubernetes:
 * pkg/scheduler/framework/preemption/preemption.go, pickOneNodeForPreemption). `draw` decides a tie.
 */
export function preemption(
  pod: Pod,
  refusals: ReadonlyMap<Room, Refusal>,
  budgets: readonly PodDisruptionBudget[],
  now: number,
  filter: Filter,
  draw: (ties: readonly PreemptionCandidate[]) => PreemptionCandidate | undefined,
): { readonly chosen: Preemption | undefined; readonly reasons: readonly string[] } {
  let best: PreemptionCandidate[] = [];
  const reasons: string[] = [];
  for (const [room, { isByPods }] of refusals) {
    const candidate = isByPods ? candidateOf(pod, room, budgets, now, filter) : ["Preemption is not helpful for scheduling"];
    if (!("cost" in candidate)) {
      reasons.push(...candidate);
      continue;
    }
    const order = best[0] ? compared(candidate.cost, best[0].cost) : -1;
    if (order < 0) best = [candidate];
    else if (order === 0) best.push(candidate);
  }
  return { chosen: draw(best), reasons };
}

interface PreemptionCandidate extends Preemption {
  /** The criteria in their order; less is better. */
  readonly cost: readonly number[];
}

function compared(a: readonly number[], b: readonly number[]): number {
  for (const [i, value] of a.entries()) if (value !== b[i]) return value - (b[i] ?? 0);
  return 0;
}

/**
 * Takes all pods of lower priority from the node, then gives back those that fit beside the pod: first the pods that a
 * budget protects, then the others, the most important first. Returns why the node cannot have the pod even so.
 */
function candidateOf(
  pod: Pod,
  room: Room,
  budgets: readonly PodDisruptionBudget[],
  now: number,
  filter: Filter,
): PreemptionCandidate | readonly string[] {
  const lower = room.pods.filter((p) => priorityOf(p) < priorityOf(pod)).sort((a, b) => importance(a, b, now));
  if (lower.length === 0) return ["No preemption victims found for incoming pod"];
  let left = without(room, (p) => lower.includes(p));
  const refusal = filter(left);
  if (refusal) return refusal.reasons;
  const guarded = violations(lower, budgets);
  const victims = new Set<Pod>();
  for (const other of [...lower.filter((p) => guarded.has(p)), ...lower.filter((p) => !guarded.has(p))]) {
    const tried = withPod(left, other);
    if (filter(tried) === undefined) left = tried;
    else victims.add(other);
  }
  const ordered = lower.filter((p) => victims.has(p));
  const highest = ordered[0];
  if (!highest) return [];
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
