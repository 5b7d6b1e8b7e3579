import type { Affinity, PodAffinity, PodSpec } from "../../model/pod.ts";

/** The preference that a term or constraint belongs to, in the words of the log. */
const spreadOver = (topologyKey: string): string => `the spread over ${topologyKey}`;
const nearness = (topologyKey: string): string => `preferred affinity to pods by ${topologyKey}`;
const distance = (topologyKey: string): string => `preferred anti-affinity to pods by ${topologyKey}`;
const NODES = "preferred affinity to nodes";

/**
 * What a pod prefers: its ScheduleAnyway spreads and preferred affinity, by topology key, each once, in the order of
 * the manifest.
 */
export function softRulesOf({ affinity, topologySpreadConstraints }: PodSpec): readonly string[] {
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity ?? {};
  return [
    ...new Set([
      ...(topologySpreadConstraints ?? []).flatMap(({ whenUnsatisfiable, topologyKey }) =>
        whenUnsatisfiable === "ScheduleAnyway" ? [spreadOver(topologyKey)] : [],
      ),
      ...preferred(podAffinity).map(({ podAffinityTerm }) => nearness(podAffinityTerm.topologyKey)),
      ...preferred(podAntiAffinity).map(({ podAffinityTerm }) => distance(podAffinityTerm.topologyKey)),
      ...((nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).length > 0 ? [NODES] : []),
    ]),
  ];
}

/** Whether a preference of `softRulesOf` is a spread. */
export const isSpread = (rule: string): boolean => rule.startsWith(spreadOver(""));

/** Preferences that are kept, each with the lowest maxSkew that its spreads get; 0: as they are. */
export type KeptRules = ReadonlyMap<string, number>;

/** The spec with those of its preferences that are kept; what it requires is untouched. */
export function withSoftRules(spec: PodSpec, kept: KeptRules): PodSpec {
  const { affinity, topologySpreadConstraints } = spec;
  return {
    ...spec,
    ...(topologySpreadConstraints && {
      topologySpreadConstraints: topologySpreadConstraints.flatMap((constraint) => {
        if (constraint.whenUnsatisfiable !== "ScheduleAnyway") return [constraint];
        const least = kept.get(spreadOver(constraint.topologyKey));
        return least === undefined ? [] : [{ ...constraint, maxSkew: Math.max(constraint.maxSkew, least) }];
      }),
    }),
    ...(affinity && { affinity: withPreferred(affinity, kept) }),
  };
}

function withPreferred({ nodeAffinity, podAffinity, podAntiAffinity, ...rest }: Affinity, kept: KeptRules): Affinity {
  const only = (terms: PodAffinity, nameOf: (topologyKey: string) => string): PodAffinity => ({
    ...terms,
    preferredDuringSchedulingIgnoredDuringExecution: preferred(terms).filter(({ podAffinityTerm }) =>
      kept.has(nameOf(podAffinityTerm.topologyKey)),
    ),
  });
  return {
    ...rest,
    ...(nodeAffinity && {
      nodeAffinity: kept.has(NODES) ? nodeAffinity : { ...nodeAffinity, preferredDuringSchedulingIgnoredDuringExecution: [] },
    }),
    ...(podAffinity && { podAffinity: only(podAffinity, nearness) }),
    ...(podAntiAffinity && { podAntiAffinity: only(podAntiAffinity, distance) }),
  };
}

const preferred = (terms: PodAffinity | undefined) => terms?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
