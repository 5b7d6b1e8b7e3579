import { EACH } from "#core/model/price-caps.ts";
import type { Settings } from "./cluster-deps.ts";

/** The schedule of a cluster's NodePools that have none of their own (SLEEP_SCHEDULE); undefined without one. */
export function scheduleOf(cluster: string, { sleepSchedule }: Pick<Settings, "sleepSchedule">): string | undefined {
  const byName = new Map(Object.entries(sleepSchedule));
  return byName.get(cluster) ?? byName.get(EACH);
}
