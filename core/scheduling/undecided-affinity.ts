import { HOSTNAME } from "../model/labels.ts";
import type { Attempt } from "./attempt.ts";
import type { PlannedClaim } from "./claims/planned-claim.ts";
import type { NodeState } from "./problem/existing-node.ts";
import type { PodData } from "./problem/pod-class.ts";
import type { TopologyGroup } from "./rules/topology-group.ts";

/**
 * What an attempt leaves open about required affinity, because it plans pods that the affinity selects on claims whose
 * domain is not decided yet, for example a cache on a node of any zone:
 * - "parted": pods with the affinity begin a domain of their own, as if those pods were not there. kube-scheduler
 *   refuses that once it has bound one of them elsewhere.
 * - "waiting": pods with the affinity are left, and may find a place if the claims are decided.
 *
 * Undefined when nothing is open.
 */
export function undecidedAffinity({ claims, nodes, failed, problem }: Attempt): "parted" | "waiting" | undefined {
  const { classes, relaxations } = problem;
  const followers = new Map<TopologyGroup, Set<number>>();
  for (const { index } of classes) {
    for (const group of requiredAffinity(relaxations[index]?.[0])) followers.set(group, (followers.get(group) ?? new Set()).add(index));
  }
  if (followers.size === 0) return undefined;
  const classOf = new Map(classes.flatMap(({ index, pods }) => pods.map((pod) => [pod, index] as const)));
  let isWaiting = false;
  for (const [group, own] of followers) {
    const selects = (index: number): boolean => relaxations[index]?.[0]?.counting.includes(group) ?? false;
    const indexesOn = ({ pods }: PlannedClaim | NodeState): readonly number[] => [...new Set(pods.map((pod) => classOf.get(pod) ?? -1))];
    /** Domains with a selected pod that does not itself follow others. */
    const anchored = new Set([...group.domains].flatMap(([domain, pods]) => (pods > 0 ? [domain] : [])));
    const begun = new Set<string>();
    let isOpen = false;
    const place = (there: readonly number[], domain: string | undefined): void => {
      const isAnchored = there.some((index) => selects(index) && !own.has(index));
      if (domain === undefined) isOpen ||= isAnchored;
      else if (isAnchored) anchored.add(domain);
      else if (there.some((index) => own.has(index))) begun.add(domain);
    };
    for (const claim of claims) place(indexesOn(claim), domainOf(claim, group.key));
    for (const state of nodes) if (state.pods.length > 0) place(indexesOn(state), state.node.view.labels[group.key] ?? "");
    if (!isOpen) continue;
    if ([...begun].some((domain) => !anchored.has(domain))) return "parted";
    isWaiting ||= [...own].some((index) => failed.has(index));
  }
  return isWaiting ? "waiting" : undefined;
}

/** Groups of a pod's required affinity for pods in its zone, or another domain of several hosts. */
function requiredAffinity(podData: PodData | undefined): readonly TopologyGroup[] {
  return podData?.deciding.filter((group) => group.kind === "affinity" && group.key !== HOSTNAME && podData.hard.has(group)) ?? [];
}

/** The one value that the claim's node will have of a label; undefined while there are several. */
function domainOf({ set }: PlannedClaim, key: string): string | undefined {
  const item = set.requirements.get(key);
  return item !== undefined && !item.complement && item.values.size === 1 ? [...item.values][0] : undefined;
}
