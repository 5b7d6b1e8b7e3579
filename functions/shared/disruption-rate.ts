import { jsonBytes, jsonIn } from "#adapters/store/json-bytes.ts";
import { readDocument } from "#adapters/store/read-document.ts";
import {
  type DisruptionRate,
  endOfWindow,
  isUnlimited,
  leftOf,
  type RateFacts,
  windowAt,
  withEnded,
} from "#core/disruption/limits/rate-limit.ts";
import type { RateSetting } from "#core/disruption/settings.ts";
import type { Pod } from "#core/model/pod.ts";
import type { ClusterDeps } from "./cluster-deps.ts";
import { withLease } from "./lease.ts";

// The window of the disruption rate is a small document of the table. It is written under the cluster's lease, before
// what it counts is done: a kill in between costs a part of the window, and never a node too many.

type StoreDeps = Pick<ClusterDeps, "cluster" | "store" | "log">;

const nameOf = ({ cluster }: StoreDeps): string => `disruption-rate/${cluster.name}`;

/**
 * The window as it is now. One that follows a window that was used up is stored at once, where pods were looked at:
 * nodes that expire, for which no pod is looked at, may use it. Of a table that does not answer nothing is known, so
 * its error is thrown.
 */
export async function readWindow(setting: RateSetting, facts: RateFacts, deps: StoreDeps): Promise<DisruptionRate> {
  const reading = { name: nameOf(deps), what: "How many nodes were ended lately", parse: parsed };
  const stored = (await readDocument(deps, reading))?.value;
  const window = windowAt(stored, facts, setting);
  const followsFull = stored !== undefined && window !== stored && leftOf(stored, setting) === 0;
  if (followsFull && facts.pods !== undefined) await keepWindow(window, deps);
  return window;
}

function parsed(bytes: Uint8Array): DisruptionRate | undefined {
  const read = jsonIn(bytes) as DisruptionRate;
  const numbers = [read.since, read.nodes, read.factor, ...Object.values(read.ended), ...Object.values(read.moved).flat()];
  return numbers.every(Number.isFinite) ? read : undefined;
}

export const keepWindow = (window: DisruptionRate, deps: Pick<ClusterDeps, "cluster" | "store" | "log">): Promise<void> =>
  deps.store.putDocument(nameOf(deps), jsonBytes(window), String(window.since));

/** While another decision is under way, a turn is asked for again after this time, ms. */
const ASK_AGAIN_MS = 5_000;

/**
 * Counts the end of a node that no command decides, as of one that expires. Undefined when it may end now; otherwise
 * when to ask again, ms since the epoch. The end of one NodeClaim counts once, however often it is asked for.
 */
export async function takeTurn(
  nodeClaim: string,
  nodePool: string | undefined,
  moving: readonly Pod[],
  deps: Pick<ClusterDeps, "cluster" | "kubernetes" | "store" | "log" | "settings" | "now" | "later" | "newId">,
): Promise<number | undefined> {
  const { cluster, kubernetes, store, settings } = deps;
  const { disruptionRate: setting } = settings;
  if (setting === undefined) return undefined;
  const pool = nodePool === undefined ? undefined : await kubernetes.get("NodePool", nodePool);
  if (pool !== undefined && isUnlimited(pool, undefined, deps.now())) return undefined;
  const held = await withLease(deps, async () => {
    const now = deps.now();
    const nodes = (await store.list(cluster.name)).filter(({ initializedAt }) => initializedAt !== undefined).length;
    const window = await readWindow(setting, { now, nodes }, deps);
    if (window.ended[nodeClaim] !== undefined) return undefined;
    if (leftOf(window, setting) === 0) return endOfWindow(window, setting);
    await keepWindow(withEnded(window, [nodeClaim], { now }, moving), deps);
    return undefined;
  });
  return held === undefined ? deps.now() + ASK_AGAIN_MS : held.decision;
}
