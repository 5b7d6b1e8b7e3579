// The disruption function: removes nodes that are empty, drifted or not worth their price. In: wake-ups and the sweep.
// Out: commands and intents in the store, taints, conditions, Kubernetes events, metrics. core/disruption decides; the
// lifecycle function drains and terminates.

import { checkDisruption, type DisruptionFacts } from "#core/passes/check-disruption.ts";
import type { WakeUpReason } from "#core/ports/wake-up-causes.ts";
import { answerOf } from "../shared/answer.ts";
import { isPausedForKarpenter } from "../shared/beside-karpenter.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { type EntryDeps, entry } from "../shared/cluster-entry.ts";
import { reportPauses } from "../shared/pauses.ts";
import { disrupt } from "./disrupt.ts";
import { claimSpan, lastPasses, readNextPass, sleepUntil } from "./wake-times.ts";

/** Entry of the disruption function: wake-ups of its queue, and the sweep. */
export const disruptionEntry = (deps: EntryDeps) =>
  entry(
    {
      controller: "disruption",
      onWakeUp: (wakeUp, cluster) => pass(wakeUp.kind === "disruption" ? wakeUp : { cause: "Unknown", detail: wakeUp.kind }, cluster),
      onSweep: (cluster) => pass({ cause: "Sweep" }, cluster),
      sweepOf: (cluster) => ({ kind: "disruption", cluster, cause: "Sweep" }),
    },
    deps,
  );

/**
 * A decision is confirmed after 15 s, by what is read again then: it may use what was known of Karpenter so long ago,
 * ms.
 */
const LEASE_AGE_MS = 10_000;

/**
 * Makes a pass if one is needed. Commands under way wait, too, while a Karpenter runs: it would remove their taints. A
 * wake-up for a validation may be lost, so it is asked for again.
 */
async function pass(reason: WakeUpReason<"disruption">, cluster: ClusterDeps): Promise<void> {
  const answer = await check(reason.cause, cluster);
  if (answer.next === "wait") await sleepUntil([answer.until], cluster);
  if (answer.next !== "run") return;
  const { isFresh } = answer;
  const isHeld = await isPausedForKarpenter(cluster, isFresh ? 0 : LEASE_AGE_MS);
  // An API server that does not answer has ended the pass by now: its sweeps are repeated every few seconds.
  if (reason.cause === "Sweep") await reportPauses(cluster);
  if (!isHeld) await disrupt(reason, cluster, isFresh);
}

function check(cause: WakeUpReason<"disruption">["cause"], deps: ClusterDeps) {
  const { cluster, store, settings, isLeaving = false } = deps;
  const hasWorkWithoutNodes = settings.capacityBuffer || settings.stackMaxPricePerHour !== undefined;
  const state = { cause, last: lastPasses(deps), isLeaving, hasWorkWithoutNodes };
  return answerOf((facts: Partial<DisruptionFacts>) => checkDisruption({ ...state, now: deps.now() }, facts), {
    isFirstOfSpan: async () => ({ isFirstOfSpan: await claimSpan(deps) }),
    nextPassAt: async () => ({ nextPassAt: await readNextPass(deps) }),
    commands: async () => ({ commands: await store.commands(cluster.name) }),
    records: async () => ({ records: await store.list(cluster.name) }),
  });
}
