import { PROGRAM } from "#settings/program.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";

const LOG_WINDOW_MS = 10 * 60_000;

/** Logs, at most once in ten minutes, that instances are held until a user decides about them. */
export async function reportHeldInstances(
  what: string,
  names: readonly string[],
  { cluster, store, log, now }: LifecycleDeps,
): Promise<void> {
  if (!(await store.isFirstWithin(cluster.name, `held/${what}`, now(), LOG_WINDOW_MS))) return;
  const fields = { controller: "nodeclaim.lifecycle", held: names.slice(0, 5) };
  log.error(`${what}; their machines are held. See what can be made again with: ${PROGRAM} rebuild --cluster ${cluster.name}`, fields);
}
