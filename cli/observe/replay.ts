import { bootsOf } from "#core/insight/observed/boots.ts";
import { type DemandChange, demandOf } from "#core/insight/observed/demand.ts";
import { figuresOf } from "#core/insight/observed/figures.ts";
import type { PriceOf } from "#core/insight/observed/machines.ts";
import type { Trace } from "#core/insight/observed/trace.ts";
import { span } from "#core/lib/duration.ts";
import { ownValue } from "#core/lib/own-value.ts";
import type { KubernetesObject } from "#core/model/kubernetes.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { Catalogue } from "#core/offerings/catalogue.ts";
import { counted, listed } from "#core/scheduling/reasons/words.ts";
import { LAB_REGIONS, labCatalogue, pricesOf } from "#lab/regions.ts";
import { replay } from "#lab/replay/replay.ts";
import { DEFAULT_POOL } from "#lab/stories.ts";
import { loadManifests, ManifestError } from "#manifests/read.ts";
import type { Settings } from "#settings/setting-table.ts";
import { InputError } from "#terminal/input-error.ts";
import type { Comparison } from "./report.ts";

export interface ReplayChoice {
  readonly settings: Partial<Settings>;
  /** Paths of manifests whose NodePools and EC2NodeClasses take the place of all recorded ones. */
  readonly apply: readonly string[];
  readonly seed: number;
}

/** Plays the demand of a trace with karpenter-serverless and compares what came of it. Throws InputError. */
export async function compared(trace: Trace & { readonly leftOut?: readonly string[] }, choice: ReplayChoice): Promise<Comparison> {
  const { header, entries } = trace;
  const catalogue = catalogueOf(header.region);
  const [first, last] = [entries[0], entries.at(-1)];
  if (first === undefined || last === undefined || last.at <= first.at)
    throw new InputError("the trace holds a single look; record for some minutes at least");
  const [from, to] = [first.at, last.at];
  const { demand, sentences } = withOwnPools(demandOf(trace), choice.apply, header.cluster);
  const priceOf = pricesIn(catalogue);
  const boots = bootsOf(trace);
  const played = await replay(demand, {
    ...{ header, catalogue, settings: choice.settings, seed: choice.seed, boots, from, to },
  });
  const observed = figuresOf(trace, priceOf, from);
  return {
    ...{ header, from, to, looks: entries.length, observed },
    replayed: figuresOf(played.trace, priceOf, from),
    assumed: [
      ...sentences,
      ...(trace.leftOut?.length ? [`Left out of the trace: ${listed(trace.leftOut, 3)}.`] : []),
      ...(played.refused.length > 0 ? [`Left out of the replay: ${listed(played.refused, 3)}.`] : []),
      ...assumptions(trace, boots, observed.unpriced),
    ],
  };
}

/** A region's types and prices; spot prices are made up. Throws InputError. */
export function catalogueOf(region: string): Catalogue {
  if (!LAB_REGIONS.includes(region))
    throw new InputError(`types and prices of ${region} do not come with the code; the regions are ${LAB_REGIONS.join(", ")}`);
  return labCatalogue(region);
}

export const pricesIn =
  ({ onDemand, spot = {} }: Catalogue): PriceOf =>
  (type, zone, capacityType) => {
    if (capacityType === "reserved") return 0;
    if (capacityType === "on-demand") return ownValue(onDemand, type);
    return ownValue(ownValue(spot, type) ?? {}, zone) ?? ownValue(onDemand, type);
  };

/** A look that comes later than this many intervals after the one before leaves a gap. */
const GAP_INTERVALS = 3;

function assumptions({ header, entries }: Trace, boots: readonly number[], unpriced: readonly string[]): readonly string[] {
  const gaps = entries.slice(1).flatMap(({ at }, i) => {
    const before = entries[i]?.at ?? at;
    return at - before > GAP_INTERVALS * header.everyMs ? [at - before] : [];
  });
  const gap = gaps.reduce((sum, ms) => sum + ms, 0);
  return [
    `Prices are list prices of ${pricesOf(header.region)} that come with the code; spot prices are made up, the same on both sides.`,
    `The replay begins at rest, with nodes bought for the first demand. Machines join ${booted(boots)}, and no spot interruption happens.`,
    "ReplicaSets and StatefulSets ask for what their owners wrote; other pods run as long as they ran in fact.",
    ...(gaps.length > 0
      ? [`The trace has ${counted(gaps.length, "gap")} of ${span(gap)} in all; what happened in them is not known.`]
      : []),
    ...(unpriced.length > 0 ? [`The price of ${counted(unpriced.length, "node")} is not known: ${listed(unpriced, 3)}.`] : []),
  ];
}

function booted(boots: readonly number[]): string {
  if (boots.length === 0) return "within 20 s to 3 min";
  const sorted = boots.toSorted((a, b) => a - b);
  return `as they did here (${counted(boots.length, "boot")}, half of them within ${span(sorted[Math.floor(boots.length / 2)] ?? 0)})`;
}

const isPoolOrClass = ({ kind = "" }: { readonly kind?: string }): boolean => kind === "NodePool" || kind === "EC2NodeClass";

/** The demand with the NodePools that the caller names, or with the default one where the trace has none to use. */
function withOwnPools(
  demand: readonly DemandChange[],
  paths: readonly string[],
  cluster: string,
): { readonly demand: readonly DemandChange[]; readonly sentences: readonly string[] } {
  const isUsable = ({ apply }: DemandChange): boolean =>
    apply?.kind === "NodePool" && (apply as NodePool).spec.template.spec.nodeClassRef.kind === "EC2NodeClass";
  if (paths.length === 0 && demand.some(isUsable)) return { demand, sentences: [] };
  const own = manifestsIn(paths.length === 0 ? [DEFAULT_POOL] : paths, cluster).filter(isPoolOrClass);
  if (!own.some(({ kind }) => kind === "NodePool")) throw new InputError(`--apply: there is no NodePool in ${listed(paths)}`);
  const others = demand.filter(({ apply, remove }) => !(apply && isPoolOrClass(apply)) && !(remove && isPoolOrClass(remove)));
  const names = own.filter(({ kind }) => kind === "NodePool").map(({ metadata }) => metadata.name);
  const which =
    paths.length === 0
      ? "There is no NodePool with an EC2NodeClass in the trace, so the default one is used"
      : "In place of the recorded NodePools";
  const sentence =
    paths.length === 0
      ? `${which}: on-demand, categories c, m and r, newer than generation 2.`
      : `${which} the replay has ${listed(names)}.`;
  return { demand: [...own.map((apply) => ({ at: 0, apply })), ...others], sentences: [sentence] };
}

function manifestsIn(paths: readonly string[], cluster: string): readonly KubernetesObject[] {
  try {
    return loadManifests(paths, { ...process.env, CLUSTER_NAME: cluster }).map(({ object }) => object as KubernetesObject);
  } catch (error) {
    if (error instanceof ManifestError) throw new InputError(error.message);
    throw error;
  }
}
