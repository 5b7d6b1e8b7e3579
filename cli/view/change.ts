import type { ViewSource } from "#console/server/source.ts";
import { changeOverview } from "#core/insight/overview/change.ts";
import { clusterOverview, podOverviews } from "#core/insight/overview/cluster.ts";
import { decisionsOf, type ReadState } from "#core/insight/overview/decisions.ts";
import type { ClusterOverview, ViewIndex } from "#core/insight/overview/types.ts";
import { disruptionSettings } from "#functions/disruption/settings.ts";
import type { Settings } from "#settings/setting-table.ts";
import type { Report } from "../what-if/report.ts";
import type { Source } from "../what-if/source.ts";

/** A what-if as a view: the cluster before and after, and what becomes of each node. */
export function changeSource({ snapshot, intents, name }: Source, report: Report, settings: Settings): ViewSource {
  const { answer } = report;
  const states: Readonly<Record<string, ReadState>> = {
    before: { snapshot, records: intents.records ?? [], commands: intents.commands ?? [] },
    after: { snapshot: (answer.changed ?? answer.unchanged).course.end, records: [], commands: [] },
  };
  const scenes = new Map<string, ClusterOverview>();
  const decide = (state: ReadState) => decisionsOf(state, { disruption: disruptionSettings("what-if", settings), solve: settings });
  const stateOf = (id: string): ReadState | undefined => (Object.hasOwn(states, id) ? states[id] : undefined);
  const index: ViewIndex = {
    ...{ version: 1, kind: "what-if", title: name, revision: 1 },
    scenes: [
      { id: "before", name: "before" },
      { id: "after", name: "after" },
    ],
    change: changeOverview(report, snapshot),
  };
  return {
    index: () => index,
    scene: async (id) => {
      const state = stateOf(id);
      if (state === undefined) return undefined;
      const known = scenes.get(id) ?? clusterOverview(id, state, decide(state));
      scenes.set(id, known);
      return known;
    },
    pods: async (id) => {
      const state = stateOf(id);
      return state && podOverviews(state);
    },
    onChange: () => () => {},
  };
}
