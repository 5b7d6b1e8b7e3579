import { ownValue } from "../lib/own-value.ts";
import { ARCH, INSTANCE_TYPE, OS, REGION, ZONE } from "../model/labels.ts";
import type { NodeSelectorRequirementWithMinValues } from "../model/node-pool.ts";
import { allowsAbsent, has, intersect, isReadable, overlaps, type Requirement, requirement, serialize, unmet } from "./requirement.ts";

/**
 * One requirement per label key (karpenter: pkg/scheduling/requirements.go, Requirements).
 * @example
 * const wanted = requirementsFrom(nodePool.spec.template.spec.requirements);
 * compatible(wanted, requirementsFromLabels(pod.spec.nodeSelector), WELL_KNOWN_LABELS); // may a new node take the pod?
 */
export type Requirements = ReadonlyMap<string, Requirement>;

const ALIASES: ReadonlyMap<string, string> = new Map([
  ["failure-domain.beta.kubernetes.io/zone", ZONE],
  ["failure-domain.beta.kubernetes.io/region", REGION],
  ["beta.kubernetes.io/arch", ARCH],
  ["beta.kubernetes.io/os", OS],
  ["beta.kubernetes.io/instance-type", INSTANCE_TYPE],
  ["topology.ebs.csi.aws.com/zone", ZONE],
]);

/** The well-known key for an old or vendor-specific key (karpenter: pkg/apis/v1/labels.go, NormalizedLabels). */
export function normalizeKey(key: string): string {
  return ALIASES.get(key) ?? key;
}

type RequirementItem = Omit<NodeSelectorRequirementWithMinValues, "values"> & { readonly values?: readonly string[] };

/** Requirements from a manifest's list; items with equal keys are intersected. No node meets an unreadable item. */
export function requirementsFrom(items: readonly RequirementItem[] | undefined): Requirements {
  const result = new Map<string, Requirement>();
  for (const { key, operator, values, minValues } of items ?? []) {
    const name = normalizeKey(key);
    put(result, isReadable({ operator, values: values ?? [] }) ? requirement(name, operator, values, minValues) : unmet(name));
  }
  return result;
}

/** Labels, or a nodeSelector, as In requirements. */
export function requirementsFromLabels(labels: Readonly<Record<string, string>> | undefined): Requirements {
  const result = new Map<string, Requirement>();
  for (const [key, value] of Object.entries(labels ?? {})) put(result, requirement(normalizeKey(key), "In", [value]));
  return result;
}

function put(target: Map<string, Requirement>, item: Requirement): void {
  const present = target.get(item.key);
  target.set(item.key, present === undefined ? item : intersect(present, item));
}

/** All requirements of all sets, intersected by key. */
export function intersectAll(...sets: readonly Requirements[]): Requirements {
  const result = new Map<string, Requirement>();
  for (const set of sets) for (const item of set.values()) put(result, item);
  return result;
}

/** Why one set does not admit another. */
export interface Conflict {
  readonly key: string;
  /** The first set's requirement for the key; undefined when it has none. */
  readonly offered: Requirement | undefined;
  readonly wanted: Requirement;
}

/**
 * The first key in both sets whose values do not overlap; a key of only one set is ignored. Two requirements that both
 * admit an absent label (NotIn, DoesNotExist) agree without a common value.
 */
export function conflictOf(a: Requirements, b: Requirements): Conflict | undefined {
  const [small, large] = a.size <= b.size ? [a, b] : [b, a];
  for (const key of small.keys()) {
    const offered = a.get(key);
    const wanted = b.get(key);
    if (offered === undefined || wanted === undefined || !large.has(key)) continue;
    if (!overlaps(offered, wanted) && !(allowsAbsent(offered) && allowsAbsent(wanted))) return { key, offered, wanted };
  }
  return undefined;
}

const NOTHING: ReadonlySet<string> = new Set();

/**
 * Why a node described by `node` may not take a pod that requires `wanted`; undefined when it may. A key that the node
 * lacks is allowed when it is in `allowUndefined` (a new NodeClaim may leave well-known labels open) or when the
 * requirement admits an absent label (karpenter: pkg/scheduling/requirements.go, Requirements.Compatible).
 */
export function incompatibility(
  node: Requirements,
  wanted: Requirements,
  allowUndefined: ReadonlySet<string> = NOTHING,
): Conflict | undefined {
  for (const [key, item] of wanted) {
    if (node.has(key) || allowUndefined.has(key) || allowsAbsent(item)) continue;
    return { key, offered: undefined, wanted: item };
  }
  return conflictOf(node, wanted);
}

/** Whether `node` may take `wanted`; see `incompatibility`. */
export function compatible(node: Requirements, wanted: Requirements, allowUndefined: ReadonlySet<string> = NOTHING): boolean {
  return incompatibility(node, wanted, allowUndefined) === undefined;
}

/** `compatible` for the labels of a node, which have one value each. */
export function labelsCompatible(labels: Readonly<Record<string, string>>, wanted: Requirements): boolean {
  for (const [key, item] of wanted) {
    const value = ownValue(labels, key);
    if (value === undefined ? !allowsAbsent(item) : !has(item, value)) return false;
  }
  return true;
}

/** The requirements as in manifests, in key order. */
export function serializeAll(set: Requirements): readonly NodeSelectorRequirementWithMinValues[] {
  return [...set.keys()].sort().flatMap((key) => {
    const item = set.get(key);
    return item === undefined ? [] : serialize(item);
  });
}
