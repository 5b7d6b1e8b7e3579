// The disruption function: removes nodes that are empty, drifted or not worth their price. In: wake-ups and the sweep.
// Out: commands and intents in the store, taints, conditions, Kubernetes events, metrics. core/disruption decides; the
// lifecycle function drains and terminates.

import { WAKE_UP_CAUSES, type WakeUpReason } from "#core/ports/wake-up-causes.ts";
import { standsStill } from "../shared/beside-karpenter.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { type EntryDeps, entry } from "../shared/cluster-entry.ts";
import { disrupt } from "./disrupt.ts";
import { awaitedValidation, isDue, isFirstOfSwarm, isSweptAlready, sleepUntil } from "./wake-times.ts";

/** Entry of the disruption function: wake-ups of its queue, and the sweep. */
export const disruptionEntry = (deps: EntryDeps) =>
  entry(
    {
      controller: "disruption",
      onWakeUp: async (wakeUp, cluster) => {
        const reason: WakeUpReason<"disruption"> = wakeUp.kind === "disruption" ? wakeUp : { cause: "Unknown", detail: wakeUp.kind };
        if (WAKE_UP_CAUSES.disruption[reason.cause].swarms && !(await isFirstOfSwarm(cluster))) return;
        if (reason.cause === "Due" && !(await isDue(cluster))) return;
        await decide(reason, cluster);
      },
      onSweep: async (cluster) => {
        if (!isSweptAlready(cluster)) await decide({ cause: "Sweep" }, cluster);
      },
      sweepOf: (cluster) => ({ kind: "disruption", cluster, cause: "Sweep" }),
    },
    deps,
  );

/**
 * Commands under way wait, too, while a Karpenter runs: it would remove their taints. A cluster that is being taken
 * from the stack loses its nodes without any decision. While a command waits for its validation, nothing is decided;
 * its wake-up may be lost, so it is asked for again.
 */
async function decide(reason: WakeUpReason<"disruption">, cluster: ClusterDeps): Promise<void> {
  if (cluster.isLeaving) return;
  const commands = await cluster.store.commands(cluster.cluster.name);
  const validatedAt = awaitedValidation(commands, cluster.now());
  if (validatedAt !== undefined && reason.cause !== "ReplacementReady") {
    await sleepUntil([validatedAt], cluster);
    return;
  }
  if (reason.cause === "NodesRemoved" && commands.length === 0 && (await ownsNothing(cluster))) return;
  // What a command is validated by must be as it is now: its nodes are removed afterwards.
  const isFresh = !ABOUT_NODES.has(reason.cause) || commands.some(({ phase, dueAt }) => phase === "Validating" && dueAt <= cluster.now());
  if (!(await standsStill(cluster, isFresh ? 0 : LEASE_AGE_MS))) await disrupt(reason, cluster, isFresh);
}

/** Whether the last node has gone: there is nothing to disrupt, and no buffer to keep room for. */
async function ownsNothing({ cluster, store, settings }: ClusterDeps): Promise<boolean> {
  return !settings.capacityBuffer && settings.stackMaxPricePerHour === undefined && (await store.list(cluster.name)).length === 0;
}

/** A decision is confirmed after 15 s, with all that it rests on read anew. */
const LEASE_AGE_MS = 10_000;

/** Causes that no change of a definition has: a pass for them may use definitions that were read a moment ago. */
const ABOUT_NODES: ReadonlySet<string> = new Set<WakeUpReason<"disruption">["cause"]>([
  "PodsMoved",
  "NodesRemoved",
  "ReplacementReady",
  "Due",
]);
