// Room core/scheduling/rules: the rules of Kubernetes and Karpenter about one pod, volume, port or topology rule. In:
// API objects. Out: requirements, relaxation steps, topology groups, volume alternatives. A reader starts here: this
// file reads the affinity of a pod. Must not know: the other pods of a run, nodes and claims, and the order in which
// anything is placed.

import { INSTANCE_TYPE } from "../../model/labels.ts";
import type { NodeSelectorTerm, PodAffinityTerm, PodSpec, TopologySpreadConstraint } from "../../model/pod.ts";
import type { Toleration } from "../../model/taint.ts";
import { TOLERATE_SOFT } from "../../pods/taints.ts";
import { isReadable, type Requirement, requirement } from "../../requirements/requirement.ts";
import { intersectAll, type Requirements, requirementsFrom, requirementsFromLabels } from "../../requirements/requirements.ts";
import { unwritable } from "../../requirements/validation.ts";

/**
 * Whether preferred terms and ScheduleAnyway spreads are tried first or ignored (setting PREFERENCE_POLICY). "Weigh"
 * tries those that `weighPreferences` has left.
 */
export type PreferencePolicy = "Respect" | "Ignore" | "Weigh";

/** The requirements of a pod at one step of relaxation. Preferences that are not relaxed yet count as required. */
export interface RelaxationStep {
  /** What this step relaxed; undefined for the first step. */
  readonly relaxed: string | undefined;
  /** Whether the step has one of several OR-ed required terms of node affinity. */
  readonly isAlternative: boolean;
  /** Whether the step keeps all preferences. */
  readonly isWhole: boolean;
  readonly tolerations: readonly Toleration[];
  /** nodeSelector, one required term and the heaviest preferred term that is not relaxed yet. */
  readonly requirements: Requirements;
  /** The same without preferences; topology domains must meet these. */
  readonly strict: Requirements;
  /** A key whose requirements exclude each other, so that no node can ever meet them; undefined without one. */
  readonly contradiction: string | undefined;
  readonly spreads: readonly TopologySpreadConstraint[];
  readonly affinity: readonly PodAffinityTerm[];
  readonly antiAffinity: readonly PodAffinityTerm[];
}

interface Weighted<T> {
  readonly weight: number;
  readonly term: T;
}

/** Heaviest first; terms of equal weight keep the order of the manifest. */
function heaviestFirst<T>(terms: readonly Weighted<T>[]): Weighted<T>[] {
  return [...terms].sort((a, b) => b.weight - a.weight);
}

/**
 * Preferences of one kind are given up in at most so many steps, several at a time where a pod has more: each step
 * lists those that are left, so one tenant's pod with 10,000 would take half a minute of each plan. Far more than pods
 * have.
 */
const MAX_STEPS_PER_KIND = 100;
const sharesOf = (count: number): number => Math.ceil(count / MAX_STEPS_PER_KIND);

/**
 * The relaxation steps of a pod, strictest first: OR-ed required terms one by one, then without the preferred pod
 * affinity, pod anti-affinity and node affinity terms, the heaviest first, then without ScheduleAnyway spreads, and
 * then with a toleration of PreferNoSchedule, if `softTaints` (some pool has such a taint)
 * (karpenter: pkg/controllers/provisioning/scheduling/preferences.go, Preferences.Relax). By then the last of OR-ed
 * terms is left, so each of the others follows once more without preferences: kube-scheduler takes any of them.
 */
export function relaxationSteps(spec: PodSpec, policy: PreferencePolicy, softTaints: boolean): readonly RelaxationStep[] {
  const respect = policy !== "Ignore";
  const { nodeAffinity, podAffinity, podAntiAffinity } = spec.affinity ?? {};
  const required = [...requiredTerms(spec)];
  const terms = [...required];
  const preferredNode = heaviestFirst(
    respect
      ? (nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
          .filter(({ preference }) => isReadableTerm(preference) && isWritableTerm(preference))
          .map((p) => ({ weight: p.weight, term: p.preference }))
      : [],
  );
  const preferredTerms = (terms: readonly { readonly weight: number; readonly podAffinityTerm: PodAffinityTerm }[] | undefined) =>
    heaviestFirst(respect ? (terms ?? []).map((p) => ({ weight: p.weight, term: p.podAffinityTerm })) : []);
  const preferredPods = preferredTerms(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution);
  const preferredAnti = preferredTerms(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution);
  let spreads = (spec.topologySpreadConstraints ?? []).filter((s) => respect || s.whenUnsatisfiable === "DoNotSchedule");
  let tolerations = spec.tolerations ?? [];
  const selector = requirementsFromLabels(spec.nodeSelector);

  const steps: RelaxationStep[] = [];
  const stepWithout = (relaxed: string | undefined): RelaxationStep => {
    const strict = intersectAll(selector, termRequirements(required[0]));
    const requirements = intersectAll(strict, termRequirements(preferredNode[0]?.term));
    return {
      relaxed,
      isAlternative: terms.length > 1,
      isWhole: steps.length < Math.max(1, terms.length),
      tolerations,
      requirements,
      strict,
      contradiction: contradictionIn(requirements),
      spreads,
      affinity: [...(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []), ...preferredPods.map(({ term }) => term)],
      antiAffinity: [...(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []), ...preferredAnti.map(({ term }) => term)],
    };
  };

  steps.push(stepWithout(undefined));
  const step = (relaxed: string): void => void steps.push(stepWithout(relaxed));
  while (required.length > 1) {
    required.shift();
    step("the first required node affinity term");
  }
  for (const [list, what] of [
    [preferredPods, "the heaviest preferred pod affinity"],
    [preferredAnti, "the heaviest preferred pod anti-affinity"],
    [preferredNode, "the heaviest preferred node affinity"],
  ] as const) {
    const atATime = sharesOf(list.length);
    while (list.length > 0) {
      list.splice(0, atATime);
      step(what);
    }
  }
  const soft = spreads.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === "ScheduleAnyway");
  const atATime = sharesOf(soft.length);
  while (soft.length > 0) {
    const given = new Set(soft.splice(0, atATime));
    spreads = spreads.filter((one) => !given.has(one));
    step("a ScheduleAnyway topology spread");
  }
  if (softTaints) {
    tolerations = [...tolerations, TOLERATE_SOFT];
    step("avoiding PreferNoSchedule taints");
  }
  if (steps.length > terms.length) {
    for (const term of terms.slice(0, -1)) {
      required[0] = term;
      step("the other required node affinity terms, and all preferences");
    }
  }
  return steps;
}

/** A term that no node meets. */
const NO_NODE: NodeSelectorTerm = { matchExpressions: [{ key: INSTANCE_TYPE, operator: "In", values: [] }] };

/**
 * OR-ed required node affinity terms that some node may meet; when there is none, one that no node meets. Empty: the
 * pod requires nothing.
 */
export function requiredTerms({ affinity }: PodSpec): readonly NodeSelectorTerm[] {
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const readable = terms.filter((term) => !isEmptyTerm(term) && isReadableTerm(term));
  return readable.length === 0 && terms.length > 0 ? [NO_NODE] : readable;
}

/**
 * Whether a required term asks for nothing: no node meets it, as for kube-scheduler (kubernetes:
 * staging/src/k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go, isEmptyNodeSelectorTerm).
 */
export function isEmptyTerm({ matchExpressions, matchFields }: NodeSelectorTerm): boolean {
  return (matchExpressions ?? []).length + (matchFields ?? []).length === 0;
}

/** Whether every requirement of a term is valid; no node meets a term with an invalid one. */
function isReadableTerm({ matchExpressions }: NodeSelectorTerm): boolean {
  return (matchExpressions ?? []).every(isReadable);
}

/** Whether a NodeClaim can ask for a preference. One that it cannot ask for is given up. */
function isWritableTerm({ matchExpressions }: NodeSelectorTerm): boolean {
  return (matchExpressions ?? []).every((item) => unwritable(item) === undefined);
}

function termRequirements(term: NodeSelectorTerm | undefined): Requirements {
  return requirementsFrom(term?.matchExpressions);
}

/** A key whose requirements exclude each other; undefined without one. */
export function contradictionIn(set: Requirements): string | undefined {
  for (const [key, item] of set) if (item.never) return key;
  return undefined;
}

/** The requirement `key In [value]`. */
export function only(key: string, value: string): Requirement {
  return requirement(key, "In", [value]);
}
