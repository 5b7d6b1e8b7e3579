import { countedIn, type RateInput } from "#core/disruption/limits/counted.ts";
import { withEnded } from "#core/disruption/limits/rate-limit.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import { podKey } from "#core/pods/predicates.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import type { ClusterState } from "../shared/cluster-state.ts";
import { keepWindow, readWindow } from "../shared/disruption-rate.ts";

type Deps = Pick<ClusterDeps, "cluster" | "store" | "log" | "settings" | "now">;

/** The window of the cluster's disruption rate; undefined where the setting is off. */
export async function readRate({ snapshot }: Pick<ClusterState, "snapshot">, deps: Deps): Promise<RateInput | undefined> {
  const { disruptionRate: setting } = deps.settings;
  if (setting === undefined) return undefined;
  const claims = new Set(snapshot.nodeClaims.map(({ metadata }) => metadata.name));
  const facts = { now: deps.now(), nodes: claims.size, claims, pods: snapshot.pods };
  return { setting, window: await readWindow(setting, facts, deps) };
}

/** Counts the nodes of a command that begins, before anything is done for it; returns the rate from then on. */
export async function countEnds(
  command: CommandRecord,
  next: CommandRecord | undefined,
  { snapshot }: Pick<ClusterState, "snapshot">,
  rate: RateInput | undefined,
  deps: Deps,
): Promise<RateInput | undefined> {
  const begins = command.phase === "Validating" && (next?.phase === "Replacing" || next?.phase === "Deleting");
  if (rate === undefined || !begins) return rate;
  const ended = countedIn(next, snapshot.nodePools, deps.now());
  const moving = new Set(next.candidates.flatMap(({ pods }) => pods));
  const pods = snapshot.pods.filter((pod) => moving.has(podKey(pod)));
  const window = withEnded(rate.window, ended, { now: deps.now(), pods: snapshot.pods }, pods);
  if (window !== rate.window) await keepWindow(window, deps);
  return { ...rate, window };
}
