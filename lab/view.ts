import { runView } from "#console/server/run.ts";
import type { ViewSource } from "#console/server/source.ts";
import { clusterOverview, podOverviews } from "#core/insight/overview/cluster.ts";
import { decisionsOf, type ReadState } from "#core/insight/overview/decisions.ts";
import type { ClusterOverview, Frame, Story, StoryLine } from "#core/insight/overview/types.ts";
import { LruMap } from "#core/lib/lru-map.ts";
import { disruptionSettings } from "#functions/disruption/settings.ts";
import type { Settings } from "#functions/shared/cluster-deps.ts";
import { readClusterState } from "#functions/shared/cluster-state.ts";
import type { Lab } from "./host.ts";
import type { TimelineEntry } from "./render.ts";
import type { Recorder } from "./virtual-time.ts";

/**
 * From so many frames of a story on, frames are further apart, ms of virtual time: a day of CronJobs has thousands of
 * changes, and a day is not played second by second.
 */
const SPACING: readonly (readonly [frames: number, ms: number])[] = [
  [500, 10_000],
  [1_000, 60_000],
];

/** Overviews that are kept; they are computed when the page asks for them. */
const MAX_OVERVIEWS = 200;

/** A frame with the cluster as it was. */
interface Shot {
  readonly frame: Frame;
  readonly state: ReadState;
  readonly cluster: string;
  readonly settings: Settings;
}

/** What has been played, frame by frame. */
export interface Recording {
  /** Records the run that follows under this name. */
  record(name: string, title: string): Recorder;
  readonly source: ViewSource;
}

/** Records runs of the lab for the page. */
export function recording(title: string): Recording {
  const stories: { readonly name: string; readonly title: string; start: number; readonly frames: Frame[] }[] = [];
  const shots = new Map<string, Shot>();
  const overviews = new LruMap<string, ClusterOverview>(MAX_OVERVIEWS);

  const record = (name: string, storyTitle: string): Recorder => {
    const story = { name, title: storyTitle, start: 0, frames: [] as Frame[] };
    stories.push(story);
    let lab: Lab | undefined;
    let isChanged = true;
    let lines: StoryLine[] = [];
    return {
      begin(made, start) {
        lab = made;
        story.start = start;
        made.world.onChange(() => {
          isChanged = true;
        });
      },
      tell(entry) {
        lines.push(lineOf(entry));
      },
      async look() {
        if (lab === undefined || !(isChanged || lines.length > 0)) return;
        const { world, deps, cloud } = lab;
        const at = world.clock.now();
        const [, spacing = 0] = SPACING.findLast(([frames]) => story.frames.length >= frames) ?? [];
        if (at - (story.frames.at(-1)?.at ?? Number.NEGATIVE_INFINITY) < spacing) return;
        isChanged = false;
        const { snapshot, records, commands } = await readClusterState(deps);
        const scene = `${stories.indexOf(story)}-${story.frames.length}`;
        const frame: Frame = { scene, at, perHour: cloud.pricePerHour(), nodes: snapshot.nodes.length, lines };
        lines = [];
        story.frames.push(frame);
        shots.set(scene, { frame, state: { snapshot, records, commands }, cluster: deps.cluster.name, settings: deps.settings });
      },
    };
  };

  const source: ViewSource = {
    index: () => ({
      version: 1,
      kind: "lab",
      title,
      revision: 1,
      scenes: [],
      stories: stories.filter(({ frames }) => frames.length > 0) satisfies readonly Story[],
    }),
    async scene(id) {
      const shot = shots.get(id);
      if (shot === undefined) return undefined;
      const known = overviews.get(id) ?? overviewOf(shot);
      overviews.set(id, known);
      return known;
    },
    async pods(id) {
      const shot = shots.get(id);
      return shot && podOverviews(shot.state);
    },
    onChange: () => () => {},
  };
  return { record, source };
}

function overviewOf({ state, cluster, settings }: Shot): ClusterOverview {
  const decisions = decisionsOf(state, { disruption: disruptionSettings(cluster, settings), solve: settings });
  return clusterOverview("the lab", state, decisions);
}

const lineOf = ({ at, what, which, why = "", isError = false }: TimelineEntry): StoryLine => ({ at, what, which, why, isError });

/** Shows a recording until Ctrl-C. */
export async function showRecording({ source }: Recording, options: Parameters<typeof runView>[1]): Promise<void> {
  await runView(source, options);
}
