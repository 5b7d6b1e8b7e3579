import { ZONE } from "../../model/labels.ts";
import type { Pod } from "../../model/pod.ts";
import { type CostSettings, costSettingsOf } from "../../model/prices.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { has, type Requirement } from "../../requirements/requirement.ts";
import { nodeViews } from "../problem/node-view.ts";
import type { PodData } from "../problem/pod-class.ts";
import { problemFor } from "../problem/problem.ts";
import { TopologyState } from "../problem/topology-state.ts";

/** What limits a pod to zones; undefined for what allows all. */
interface ZoneRule {
  /** Zones that the rule names or knows. */
  readonly zones: Iterable<string>;
  readonly allows: (zone: string) => boolean;
}

/**
 * How many pods may go to each zone only, before a plan places any: by the name of the zone, "flexible" where several
 * zones are open, "none" where none is. What counts is required: node selectors and affinity, the zones of volumes,
 * hard spreads and affinity between pods. Preferences count for nothing
 * (karpenter: pkg/controllers/provisioning/scheduling/scheduler.go, computeEffectiveZoneFromPod).
 *
 *     podsByEffectiveZone(snapshot, pods, settings); // Map { "us-west-2a" => 3, "flexible" => 12 }
 */
export function podsByEffectiveZone(snapshot: Snapshot, pods: readonly Pod[], options: CostSettings): ReadonlyMap<string, number> {
  const problem = problemFor(snapshot, nodeViews(snapshot), pods, {
    ...{ policy: "Ignore", minValuesPolicy: "Strict", reservedMode: "strict" },
    ...{ excludeNodes: new Set<string>(), settling: new Set<string>(), moved: new Set<Pod>() },
    ...costSettingsOf(options),
  });
  const topology = new TopologyState(problem.groups);
  const counts = new Map<string, number>();
  for (const { index, pods: alike } of problem.classes) {
    const zone = effectiveZone(problem.relaxations[index] ?? [], topology);
    counts.set(zone, (counts.get(zone) ?? 0) + alike.length);
  }
  return counts;
}

/** `steps` without preferences are the alternatives of the pod's required node affinity. */
function effectiveZone(steps: readonly PodData[], topology: TopologyState): string {
  const open = new Set<string>();
  for (const step of steps) {
    if (step.contradiction !== undefined) continue;
    const rules = zoneRules(step, topology);
    if (rules.length === 0) return "flexible";
    const known = new Set(rules.flatMap(({ zones }) => [...zones]));
    // A rule that only excludes zones names none that are open.
    if (known.size === 0) return "flexible";
    for (const zone of known) if (rules.every(({ allows }) => allows(zone))) open.add(zone);
  }
  const [only] = open;
  return open.size > 1 ? "flexible" : (only ?? "none");
}

function zoneRules(step: PodData, topology: TopologyState): readonly ZoneRule[] {
  const own = step.strict.get(ZONE);
  const ofVolumes = step.class.volumeAlternatives.map((set) => set.get(ZONE));
  const ofGroups = step.deciding.filter((group) => group.key === ZONE && (step.hard.has(group) || group.kind === "inverse"));
  return [
    ...(own === undefined ? [] : [{ zones: named(own), allows: (zone: string) => has(own, zone) }]),
    ...(ofVolumes.length === 0 || ofVolumes.includes(undefined)
      ? []
      : [
          {
            zones: ofVolumes.flatMap((item) => (item === undefined ? [] : [...named(item)])),
            allows: (zone: string) => ofVolumes.some((item) => item !== undefined && has(item, zone)),
          },
        ]),
    ...ofGroups.map((group) => ({ zones: group.domains.keys(), allows: (zone: string) => topology.allows(group, step, zone) })),
  ];
}

/** The zones that a requirement lists as allowed. */
const named = (item: Requirement): Iterable<string> => (item.complement ? [] : item.values);
