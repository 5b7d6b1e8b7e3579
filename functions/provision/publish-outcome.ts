import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { reportSetAside } from "../shared/report-set-aside.ts";
import { writeBufferStatus } from "./buffer-status.ts";
import { nominateNodes } from "./nominate.ts";
import { publishPodEvents, publishPoolEvents } from "./plan-events.ts";
import type { Committed } from "./provision.ts";
import { recordWaits } from "./record-waits.ts";

/** Writes nominations, events, the history and statuses of what a pass has read and planned. */
export async function publishOutcome(outcome: Committed, deps: ClusterDeps): Promise<void> {
  const { state, snapshot } = outcome;
  await nominateNodes(snapshot, deps);
  await reportSetAside(state.setAside, deps);
  if (outcome.kind === "waiting") return;
  const { plan, final, records } = outcome;
  if (final !== undefined) {
    await publishPodEvents(final, records, snapshot, deps);
    if (Object.keys(final.podErrors).length > 0) await publishPoolEvents(snapshot, deps);
    await recordWaits(final, snapshot, [...state.records, ...records], deps);
  }
  await writeBufferStatus(state.headroom, plan, snapshot, deps);
}
