// The disruption function: removes nodes that are empty, drifted or not worth their price. In: wake-ups and the sweep.
// Out: commands and intents in the store, taints, conditions, Kubernetes events, metrics. core/disruption decides; the
// lifecycle function drains and terminates.

import { WAKE_UP_CAUSES, type WakeUpReason } from "../../core/ports/wake-up-causes.ts";
import { SETTLE_MS } from "../../core/signals/signal.ts";
import { standsStill } from "../shared/beside-karpenter.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { type EntryDeps, entry } from "../shared/cluster-entry.ts";
import { type Quiet, unlessQuiet } from "../shared/quiet-sweep.ts";
import { disrupt } from "./disrupt.ts";

/** Entry of the disruption function: wake-ups of its queue, and the sweep. */
export const disruptionEntry = (deps: EntryDeps) =>
  entry(
    {
      controller: "disruption",
      onWakeUp: async (wakeUp, cluster) => {
        const reason: WakeUpReason<"disruption"> = wakeUp.kind === "disruption" ? wakeUp : { cause: "Unknown", detail: wakeUp.kind };
        const { swarms } = WAKE_UP_CAUSES.disruption[reason.cause];
        if (!swarms || ((await isFirstOfSwarm(cluster)) && !(await isValidating(cluster)))) await decide(reason, cluster);
      },
      onSweep: (cluster) => unlessQuiet("disruption", cluster, (asked) => decide({ cause: "Sweep" }, asked)),
      sweepOf: (cluster) => ({ kind: "disruption", cluster, cause: "Sweep" }),
    },
    deps,
  );

/**
 * Commands under way wait, too, while a Karpenter runs: it would remove their taints. A cluster that is being taken
 * from the stack loses its nodes without any decision.
 */
async function decide(reason: WakeUpReason<"disruption">, cluster: ClusterDeps): Promise<Quiet | undefined> {
  if (cluster.isLeaving) return undefined;
  const isFresh = await needsFreshReading(reason, cluster);
  return (await standsStill(cluster, isFresh ? 0 : LEASE_AGE_MS)) ? undefined : disrupt(reason, cluster, isFresh);
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

/** What a command is validated by must be as it is now: its nodes are removed afterwards. */
async function needsFreshReading({ cause }: WakeUpReason<"disruption">, { cluster, store, now }: ClusterDeps): Promise<boolean> {
  if (!ABOUT_NODES.has(cause)) return true;
  const commands = await store.commands(cluster.name);
  return commands.some(({ phase, dueAt }) => phase === "Validating" && dueAt <= now());
}

/** How long after its notification a change may be written. */
const WRITE_MS = 1_000;

/**
 * Whether a command waits for its validation: until then nothing is decided, and the pass that validates it sees all
 * that has changed. Its wake-up may be lost, so one that is due is not waited for.
 */
async function isValidating({ cluster, store, now }: ClusterDeps): Promise<boolean> {
  const commands = await store.commands(cluster.name);
  return commands.some(({ phase, dueAt }) => phase === "Validating" && dueAt > now());
}

/**
 * Whether no other wake-up of the swarm has been served in this span of time. Each pod that is bound or deleted, and
 * each node that is removed, sends a wake-up of its own; one pass serves all of them. No change is missed: a wake-up
 * arrives SETTLE_MS after its change, and the pass that stands for it began less than SETTLE_MS before.
 */
function isFirstOfSwarm({ cluster, store, now }: ClusterDeps): Promise<boolean> {
  const span = SETTLE_MS - WRITE_MS;
  return store.isFirstWithin(cluster.name, `swarm/${Math.floor(now() / span)}`, now(), 2 * SETTLE_MS);
}
