import type { InstanceType } from "../model/instance-type.ts";
import type { NodeOverlay } from "../model/node-overlay.ts";
import type { NodePool } from "../model/node-pool.ts";
import { type Requirements, requirementsFrom, serializeAll } from "../requirements/requirements.ts";
import { Changes, type Match, weightOf } from "./changes.ts";
import { matchingOfferings, poolFacts } from "./match.ts";
import { nodeOverlayProblems } from "./validate.ts";
import type { Clash, Verdict } from "./verdict.ts";

/** What can be bought, by NodePool name; as in Snapshot. */
type TypesByPool = ReadonlyMap<string, readonly InstanceType[]>;

export interface Overlaid {
  /** Types by NodePool name as they were given, with the overlays' prices and resources. What no overlay changes is the same object as before. */
  readonly instanceTypes: TypesByPool;
  /** By overlay name. */
  readonly verdicts: ReadonlyMap<string, Verdict>;
}

/**
 * Lays overlays over what pools can buy (scheduling.md §16): heaviest first, of equal weight the later name first. An overlay counts as a whole or not at
 * all: one that clashes with another of its weight in any pool changes nothing in all of them. The order of the list does not matter.
 */
export function applyOverlays(overlays: readonly NodeOverlay[], nodePools: readonly NodePool[], instanceTypes: TypesByPool): Overlaid {
  const verdicts = new Map<string, Verdict>();
  const valid = inOrder(overlays).flatMap((overlay) => {
    const problems = nodeOverlayProblems(overlay);
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

/** Pools that buy from the same list, and that no overlay can tell apart: they share one list afterwards too, and all that is worked out from it. */
interface Group {
  readonly names: readonly string[];
  readonly facts: Requirements;
  readonly types: readonly InstanceType[];
  readonly changes: Changes;
}

interface Found {
  readonly group: Group;
  readonly matches: readonly Match[];
}

function groupsOf(nodePools: readonly NodePool[], instanceTypes: TypesByPool, keys: ReadonlySet<string>): readonly Group[] {
  const byList = new Map<readonly InstanceType[], Map<string, Group & { readonly names: string[] }>>();
  for (const pool of nodePools.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
    const { name } = pool.metadata;
    const types = instanceTypes.get(name);
    if (types === undefined) continue;
    const facts: Requirements = new Map([...poolFacts(pool)].filter(([key]) => keys.has(key)));
    const text = JSON.stringify(serializeAll(facts));
    const byFacts = byList.get(types) ?? new Map<string, Group & { readonly names: string[] }>();
    byList.set(types, byFacts);
    const group = byFacts.get(text) ?? { names: [], facts, types, changes: new Changes() };
    byFacts.set(text, group);
    group.names.push(name);
  }
  return [...byList.values()].flatMap((byFacts) => [...byFacts.values()]);
}

function matchesIn({ facts, types }: Group, wanted: Requirements): readonly Match[] {
  return types.flatMap((type) => {
    const offerings = matchingOfferings(facts, type, wanted);
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

function applied(found: readonly Found[]): Verdict {
  const names = new Set(found.flatMap(({ matches }) => matches.map(({ type }) => type.name)));
  return { outcome: "Applied", instanceTypes: [...names].sort() };
}
