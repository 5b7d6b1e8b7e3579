import type { ViewSource } from "../../console/server/source.ts";
import type { HistoryEntry, HistoryRange } from "../../core/model/history-entry.ts";
import { clusterOverview, podOverviews } from "../../core/overview/cluster.ts";
import { type DecisionSettings, decisionsOf, type ReadState } from "../../core/overview/decisions.ts";
import { pastOverview } from "../../core/overview/past.ts";
import type { ClusterOverview, CostPoint, PastOverview, PodOverview, Scene, ViewIndex } from "../../core/overview/types.ts";
import type { Settings } from "../../functions/adapters/setting-table.ts";
import { disruptionSettings } from "../../functions/disruption/settings.ts";
import { sentenceOf } from "../input-error.ts";
import type { Source } from "../what-if/source.ts";

/** A cluster that can be read, once or again and again. */
export interface Readable {
  readonly id: string;
  readonly name: string;
  readonly read: () => Promise<Source>;
  /** Entries of the history; undefined where it is not known. */
  readonly history?: (range: HistoryRange) => Promise<readonly HistoryEntry[] | undefined>;
}

/** How long the search for savings of one look may take, ms: a page is to show a change while it is news. */
const SEARCH_MS = 10_000;

/** Points of the cost over time that are kept: a day of reads every 5 s is thinned to one in a minute and a half. */
const MAX_POINTS = 1_000;

interface Kept {
  scene: Scene;
  overview: ClusterOverview | undefined;
  state: ReadState | undefined;
  pods: readonly PodOverview[] | undefined;
  points: CostPoint[];
  /** What the decisions were made from; they are not made again for the same. */
  fingerprint: string;
  /** When they were made, ms since the epoch. */
  decidedAt: number;
  past: PastOverview | undefined;
  /** When the history was read. */
  pastAt: number;
}

/** A view of clusters, and the reader that keeps it up to date. */
export interface ClusterViewSource extends ViewSource {
  /** Reads each cluster once. Rejects only where none could be read, with the first one's error. */
  look(): Promise<void>;
}

/** A view of live clusters or of a file. A cluster that cannot be read shows its last picture, and why. */
export function clusterSource(
  readables: readonly Readable[],
  { kind, title, settings }: { readonly kind: "live" | "file"; readonly title: string; readonly settings: Settings },
): ClusterViewSource {
  const kept = new Map<string, Kept>(
    readables.map(({ id, name }) => [
      id,
      {
        scene: { id, name },
        overview: undefined,
        state: undefined,
        pods: undefined,
        points: [],
        fingerprint: "",
        decidedAt: 0,
        past: undefined,
        pastAt: 0,
      },
    ]),
  );
  const listeners = new Set<() => void>();
  let revision = 0;
  const changed = (): void => {
    revision++;
    for (const listener of listeners) listener();
  };

  const lookAt = async ({ id, name, read, history }: Readable): Promise<unknown> => {
    const own = kept.get(id);
    if (own === undefined) return undefined;
    let source: Source;
    try {
      source = await read();
    } catch (error) {
      own.scene = { id, name, problem: sentenceOf(error, "view") };
      changed();
      return error;
    }
    const { snapshot, intents, remarks } = source;
    const state: ReadState = { snapshot, records: intents.records ?? [], commands: intents.commands ?? [] };
    const before = own.overview;
    const fingerprint = fingerprintOf(state);
    const isSame = before !== undefined && fingerprint === own.fingerprint;
    const first = clusterOverview(name, state, undefined, remarks);
    Object.assign(own, { scene: { id, name }, state, pods: undefined });
    // The facts are shown at once; what would be decided follows, since it takes seconds on a large cluster.
    if (before === undefined) {
      own.overview = first;
      addPoint(own, first);
      changed();
      await new Promise((resolve) => setTimeout(resolve, FIRST_PICTURE_MS));
    }
    const decided = isSame && snapshot.now - own.decidedAt < RENEW_MS ? undefined : decisionsOf(state, withTime(settings, name));
    if (decided === undefined && before !== undefined) {
      own.overview = { ...before, at: first.at, claims: first.claims };
    } else {
      own.overview = clusterOverview(name, state, decided, remarks);
      Object.assign(own, { fingerprint, decidedAt: snapshot.now });
    }
    addPoint(own, own.overview);
    if (history !== undefined && snapshot.now - own.pastAt >= RENEW_MS) await readPast(own, own.overview, history);
    changed();
    return undefined;
  };

  const readPast = async (own: Kept, overview: ClusterOverview, history: NonNullable<Readable["history"]>): Promise<void> => {
    const since = overview.at - PAST_MS;
    try {
      const entries = await history({ since, until: overview.at + 1 });
      if (entries !== undefined) Object.assign(own, { past: pastOverview(entries, overview, since), pastAt: overview.at });
    } catch (error) {
      // The cluster is shown without its past rather than not at all.
      own.scene = { ...own.scene, problem: `the history cannot be read: ${sentenceOf(error, "view")}` };
    }
  };

  return {
    index: (): ViewIndex => ({
      ...{ version: 1, kind, title, revision },
      scenes: [...kept.values()].map(({ scene }) => scene),
      costs: Object.fromEntries([...kept].map(([id, { points }]) => [id, points])),
      past: Object.fromEntries([...kept].flatMap(([id, { past }]) => (past ? [[id, past]] : []))),
    }),
    scene: async (id) => kept.get(id)?.overview,
    pods: async (id) => {
      const own = kept.get(id);
      if (own?.state === undefined) return undefined;
      own.pods ??= podOverviews(own.state);
      return own.pods;
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    look: async () => {
      const errors = await Promise.all(readables.map(lookAt));
      const failed = errors.filter((error) => error !== undefined);
      if (failed.length === readables.length && failed[0] !== undefined) throw failed[0];
    },
  };
}

/** How long a page has to fetch the first picture before the search for savings keeps the processor busy. */
const FIRST_PICTURE_MS = 150;

/** How much of the history is shown, ms. */
const PAST_MS = 86_400_000;

/** Time alone may change what is decided, so a cluster at rest is looked at anew so often. */
const RENEW_MS = 60_000;

function withTime(settings: Settings, cluster: string): DecisionSettings {
  const until = performance.now() + SEARCH_MS;
  return { disruption: disruptionSettings(cluster, settings), solve: settings, outOfTime: () => performance.now() > until };
}

/** Changes with every object that a decision reads. */
function fingerprintOf({ snapshot, records, commands }: ReadState): string {
  const lists = [
    snapshot.nodePools,
    snapshot.nodes,
    snapshot.nodeClaims,
    snapshot.pods,
    snapshot.podDisruptionBudgets,
    snapshot.daemonSets,
  ];
  const versions = lists.map((list) => list.map(({ metadata }) => `${metadata.uid}@${metadata.resourceVersion}`).join());
  return [
    ...versions,
    ...records.map(({ name, version }) => `${name}@${version}`),
    ...commands.map(({ id, version }) => `${id}@${version}`),
  ].join("\n");
}

function addPoint({ points }: Kept, { at, cost: { perHour, onDemandPerHour } }: ClusterOverview): void {
  const last = points.at(-1);
  if (last !== undefined && last.perHour === perHour && last.onDemandPerHour === onDemandPerHour && points.length > 1) {
    // A price that holds is one step of the line: only its end moves.
    const before = points.at(-2);
    if (before?.perHour === perHour) points.pop();
  }
  points.push({ at, perHour, onDemandPerHour });
  if (points.length > MAX_POINTS) points.splice(0, points.length, ...points.filter((_, i) => i % 2 === 0 || i === points.length - 1));
}
