// core/node-overlay: applies NodeOverlays (other prices, extended resources) to instance types.
// NodeOverlays, NodePools and instance types come in; changed instance types and one verdict per overlay go out.
// Plans, launches and the catalogue must not be known here.

import type { InstanceType } from "../model/instance-type.ts";
import type { NodeOverlay } from "../model/node-overlay.ts";
import type { NodePool } from "../model/node-pool.ts";
import { withoutNulls } from "../model/nulls.ts";
import { conflictOf, intersectAll, type Requirements, requirementsFrom, serializeAll } from "../requirements/requirements.ts";
import { Changes, type Match, weightOf } from "./changes.ts";
import { matchingOfferings, poolFacts, typeFacts } from "./match.ts";
import { nodeOverlayProblems } from "./validate.ts";
import type { Clash, OverlayVerdict } from "./verdict.ts";

/** Instance types by NodePool name, as in Snapshot. */
type TypesByPool = ReadonlyMap<string, readonly InstanceType[]>;

export interface Overlaid {
  /**
   * Instance types by NodePool name as given, with the overlays' prices and resources. Types without changes are the
   * same objects as before.
   */
  readonly instanceTypes: TypesByPool;
  /** By overlay name. */
  readonly verdicts: ReadonlyMap<string, OverlayVerdict>;
}

/**
 * Applies overlays to the instance types of NodePools: the greater weight first; of equal weight the later name first.
 * An overlay is applied completely or not at all: a conflict with another overlay of its weight in any NodePool keeps
 * it from all NodePools. The order of the list does not matter
 * (karpenter: pkg/controllers/nodeoverlay/controller.go, Controller.Reconcile).
 */
export function applyOverlays(overlays: readonly NodeOverlay[], nodePools: readonly NodePool[], instanceTypes: TypesByPool): Overlaid {
  const verdicts = new Map<string, OverlayVerdict>();
  const valid = inOrder(overlays).flatMap((given) => {
    const { object: overlay, problem } = withoutNulls(given);
    const problems = problem === undefined ? nodeOverlayProblems(overlay) : [problem];
    if (problems.length > 0) verdicts.set(overlay.metadata.name, { outcome: "RuntimeValidation", problems });
    return problems.length > 0 ? [] : [{ overlay, wanted: requirementsFrom(overlay.spec.requirements) }];
  });
  const keys = new Set(valid.flatMap(({ wanted }) => [...wanted.keys()]));
  const groups = groupsOf(nodePools, instanceTypes, keys);
  for (const { overlay, wanted } of valid) {
    const found = groups.map((group) => ({ group, matches: matchesIn(group, wanted) }));
    const clash = firstClash(overlay, found);
    if (clash === undefined) for (const { group, matches } of found) group.changes.put(overlay, matches);
    verdicts.set(overlay.metadata.name, clash === undefined ? applied(found) : { outcome: "Conflict", clash });
  }
  const changed = groups.flatMap(({ names, types, changes }) => {
    const list = changes.applyTo(types);
    return names.map((name) => [name, list] as const);
  });
  return { instanceTypes: new Map([...instanceTypes, ...changed]), verdicts };
}

function inOrder(overlays: readonly NodeOverlay[]): readonly NodeOverlay[] {
  return overlays.toSorted((a, b) => weightOf(b) - weightOf(a) || (a.metadata.name < b.metadata.name ? 1 : -1));
}

/**
 * NodePools with one list of instance types that no overlay treats differently: they share one list afterwards, and
 * every memo computed from it.
 */
interface Group {
  readonly names: string[];
  readonly pool: Requirements;
  readonly types: readonly InstanceType[];
  /** For each instance type, its labels that overlays ask for. */
  readonly facts: readonly Requirements[];
  readonly changes: Changes;
}

interface Found {
  readonly group: Group;
  readonly matches: readonly Match[];
}

/** `keys`: the labels that overlays ask for. */
function groupsOf(nodePools: readonly NodePool[], instanceTypes: TypesByPool, keys: ReadonlySet<string>): readonly Group[] {
  const lists = new Map<readonly InstanceType[], { readonly facts: readonly Requirements[]; readonly groups: Map<string, Group> }>();
  for (const nodePool of nodePools.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
    const { name } = nodePool.metadata;
    const types = instanceTypes.get(name);
    if (types === undefined) continue;
    const list = lists.get(types) ?? { facts: types.map((type) => typeFacts(type, keys)), groups: new Map<string, Group>() };
    lists.set(types, list);
    const pool: Requirements = new Map([...poolFacts(nodePool)].filter(([key]) => keys.has(key)));
    const text = JSON.stringify(serializeAll(pool));
    const group = list.groups.get(text) ?? { names: [], pool, types, facts: list.facts, changes: new Changes() };
    list.groups.set(text, group);
    group.names.push(name);
  }
  return [...lists.values()].flatMap(({ groups }) => [...groups.values()]);
}

function matchesIn({ pool, types, facts }: Group, wanted: Requirements): readonly Match[] {
  // Most overlays that name a NodePool are finished with all other NodePools here.
  if (conflictOf(pool, wanted) !== undefined) return [];
  return types.flatMap((type, t) => {
    const own = facts[t];
    if (own === undefined) return [];
    const offerings = matchingOfferings(pool.size === 0 ? own : intersectAll(pool, own), type, wanted);
    return offerings.length > 0 ? [{ type, offerings }] : [];
  });
}

function firstClash(overlay: NodeOverlay, found: readonly Found[]): Clash | undefined {
  for (const { group, matches } of found) {
    const clash = group.changes.clash(overlay, matches);
    if (clash !== undefined) return { ...clash, nodePool: group.names[0] ?? "" };
  }
  return undefined;
}

function applied(found: readonly Found[]): OverlayVerdict {
  const names = new Set(found.flatMap(({ matches }) => matches.map(({ type }) => type.name)));
  return { outcome: "Applied", instanceTypes: [...names].sort() };
}
