import type { ViewSource } from "#console/server/source.ts";
import { clusterOverview, podOverviews } from "#core/insight/overview/cluster.ts";
import { type DecisionSettings, decisionsOf, type ReadState } from "#core/insight/overview/decisions.ts";
import { pastEvent, pastOverview } from "#core/insight/overview/past.ts";
import type {
  ClusterOverview,
  CostPoint,
  PastOverview,
  PodOverview,
  Scene,
  SceneFigures,
  ViewIndex,
} from "#core/insight/overview/types.ts";
import type { HistoryEntry } from "#core/model/history-entry.ts";
import type { HistoryRange } from "#core/model/history-range.ts";
import { disruptionSettings } from "#functions/disruption/settings.ts";
import type { Settings } from "#settings/setting-table.ts";
import { sentenceOf } from "#terminal/input-error.ts";
import { claimStory } from "../history/read.ts";
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
  /** What happened, by days; each with when it was read. */
  readonly pasts: Map<number, { readonly readAt: number; readonly past: PastOverview }>;
  /** Why the history cannot be read; the last day's that could is shown until then. */
  pastProblem: string | undefined;
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
        pasts: new Map(),
        pastProblem: undefined,
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
      own.scene = { ...own.scene, problem: sentenceOf(error, "view") };
      changed();
      return error;
    }
    const { snapshot, intents, remarks } = source;
    const state: ReadState = { snapshot, records: intents.records ?? [], commands: intents.commands ?? [] };
    const before = own.overview;
    const fingerprint = fingerprintOf(state);
    const isSame = before !== undefined && fingerprint === own.fingerprint;
    const first = clusterOverview(name, state, undefined, remarks);
    Object.assign(own, { scene: { id, name, figures: figuresOf(own.overview ?? first) }, state, pods: undefined });
    // The facts are shown at once; what would be decided follows, since it takes seconds on a large cluster.
    if (before === undefined) {
      own.overview = first;
      addPoint(own, first);
      changed();
      await new Promise((resolve) => setTimeout(resolve, FIRST_PICTURE_MS));
    }
    const decided = isSame && snapshot.now - own.decidedAt < RENEW_MS ? undefined : decisionsOf(state, withTime(settings, name));
    if (decided === undefined && before !== undefined) {
      own.overview = { ...before, at: first.at, claims: first.claims, remarks };
    } else {
      own.overview = clusterOverview(name, state, decided, remarks);
      Object.assign(own, { fingerprint, decidedAt: snapshot.now });
    }
    addPoint(own, own.overview);
    if (history !== undefined) await pastOf(own, 1, history).catch(() => {});
    // The cluster is shown without its past rather than not at all.
    own.scene = { ...{ id, name, figures: figuresOf(own.overview) }, ...(own.pastProblem !== undefined && { problem: own.pastProblem }) };
    changed();
    return undefined;
  };

  /** What happened in so many days; read again each minute, a longer time more rarely. */
  const pastOf = async (own: Kept, days: number, history: NonNullable<Readable["history"]>): Promise<PastOverview | undefined> => {
    const { overview, state } = own;
    if (overview === undefined || state === undefined) return undefined;
    const known = own.pasts.get(days);
    if (known !== undefined && overview.at - known.readAt < (days === 1 ? RENEW_MS : LONG_RENEW_MS)) return known.past;
    const [since, until] = [overview.at - days * DAY_MS, overview.at + 1];
    try {
      const entries = await history({ since, until });
      if (entries === undefined) return undefined;
      const past = pastOverview({ cluster: overview.name, entries, records: state.records, since, until });
      own.pasts.set(days, { readAt: overview.at, past });
      own.pastProblem = undefined;
      return past;
    } catch (error) {
      own.pastProblem = `the history cannot be read: ${sentenceOf(error, "view")}`;
      throw error;
    }
  };

  /** The history of a cluster that is there and has one. */
  const historyOf = (id: string): { readonly own: Kept; readonly history: NonNullable<Readable["history"]> } | undefined => {
    const own = kept.get(id);
    const history = readables.find((one) => one.id === id)?.history;
    return own !== undefined && history !== undefined ? { own, history } : undefined;
  };

  return {
    index: (): ViewIndex => ({
      ...{ version: 1, kind, title, revision },
      scenes: [...kept.values()].map(({ scene }) => scene),
      costs: Object.fromEntries([...kept].map(([id, { points }]) => [id, points])),
      past: Object.fromEntries(
        [...kept].flatMap(([id, { pasts }]) => {
          const day = pasts.get(1);
          return day === undefined ? [] : [[id, day.past]];
        }),
      ),
    }),
    scene: async (id) => kept.get(id)?.overview,
    pods: async (id) => {
      const own = kept.get(id);
      if (own?.state === undefined) return undefined;
      own.pods ??= podOverviews(own.state);
      return own.pods;
    },
    past: async (id, days) => {
      const found = historyOf(id);
      return found && (await pastOf(found.own, days, found.history).catch(() => undefined));
    },
    story: async (id, nodeClaim) => {
      const { own, history } = historyOf(id) ?? {};
      if (own?.state === undefined || own.overview === undefined || history === undefined) return undefined;
      const store = { history: async (_: string, range: HistoryRange) => (await history(range)) ?? [] };
      const range = { since: own.overview.at - STORY_MS, until: own.overview.at + RENEW_MS };
      const story = await claimStory({ cluster: own.overview.name, store }, nodeClaim, range, own.state.records).catch(() => undefined);
      return story?.entries.map(pastEvent);
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

const DAY_MS = 86_400_000;
/** How far back a NodeClaim's own story is looked for: the default of HISTORY_DAYS. */
const STORY_MS = 30 * DAY_MS;
/** A month's figures change little in ten minutes, and reading them takes a query for each day. */
const LONG_RENEW_MS = 600_000;

function figuresOf({ at, cost, nodes, pods, waiting, claims }: ClusterOverview): SceneFigures {
  const left = waiting.filter(({ state }) => state === "left").reduce((sum, group) => sum + group.pods.length, 0);
  return {
    ...{ at, cost, nodes: nodes.length, pods: pods.total, waiting: pods.waiting, left, claims: claims.length },
    spotNodes: nodes.filter(({ capacityType }) => capacityType === "spot").length,
  };
}

/** Time alone may change what is decided, so an idle cluster is read again so often. */
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
