import { getAt, type Json, listAt, type Path, textAt } from "../lib/json.ts";
import type { WakeUpReason } from "../ports/wake-up-causes.ts";
import type { WakeUp } from "../ports/wake-ups.ts";

/**
 * That something changed in the cluster, as an audit record or an admission request reports it. It wakes a decision and
 * carries no data.
 *
 * In: records and requests as the API server writes them, of any shape. Out: wake-ups. Nothing here may rely on a body
 * being complete, and nothing may be decided from one: the function that is woken reads the cluster itself.
 */
export type Signal =
  | { readonly kind: "pod-unschedulable"; readonly pod: string }
  | { readonly kind: "pod-moved"; readonly pod: string }
  /** `isNew`: it has just joined, and is not Ready. */
  | { readonly kind: "node-changed"; readonly node: string; readonly providerId?: string; readonly isNew?: true }
  | { readonly kind: "claim-changed"; readonly claim: string }
  | { readonly kind: "pool-or-class-changed"; readonly name: string }
  | { readonly kind: "buffer-changed"; readonly name: string };

/** The longest name of an object in Kubernetes: a DNS subdomain. */
const MAX_NAME_LENGTH = 253;

/** The name of an object at a path of raw JSON; undefined when the path holds no text, or a text that is no name. */
export function nameAt(value: Json | undefined, path: Path): string | undefined {
  const text = textAt(value, path);
  return text !== undefined && text !== "" && text.length <= MAX_NAME_LENGTH ? text : undefined;
}

/** The provider id of a node on EC2. A node may write any text there, and most texts are no key of the table. */
const PROVIDER_ID = /^aws:\/\/\/[\w-]{1,64}\/i-[\w-]{1,64}$/;

/** Taints that the node controllers leave on a node for a moment after it has become Ready. */
const START_TAINTS: ReadonlySet<string | undefined> = new Set([
  "node.kubernetes.io/not-ready",
  "node.cloudprovider.kubernetes.io/uninitialized",
]);

/**
 * Whether an update of a node, which the JSON of its old and new state shows, leaves a node that takes no pods as it
 * was for a NodeClaim: with the same instance, before and after it not Ready or with a taint of its start, and not
 * being deleted. Nothing waits for one of these taints, or for Ready, before the last of them has come about.
 */
export function isStillStarting(before: Json | undefined, after: Json | undefined): boolean {
  const providerId = (node: Json | undefined) => textAt(node, ["spec", "providerID"]);
  return (
    before !== undefined &&
    after !== undefined &&
    providerId(before) === providerId(after) &&
    ![before, after].some((node) => !isStarting(node))
  );
}

/** Whether the JSON of a node is that of one that takes no pods yet, and is not being deleted. */
export function isStarting(node: Json | undefined): boolean {
  const isDeleted = getAt(node, ["metadata", "deletionTimestamp"]) !== undefined;
  const isReady =
    listAt(node, ["status", "conditions"]).some((one) => textAt(one, ["type"]) === "Ready" && textAt(one, ["status"]) === "True") &&
    !listAt(node, ["spec", "taints"]).some((taint) => START_TAINTS.has(textAt(taint, ["key"])));
  return !isDeleted && !isReady;
}

/** That a node changed; the provider id is left out when it names no instance. */
export function nodeChanged(node: string, providerId: string | undefined, isNew = false): Signal {
  const isKey = providerId !== undefined && PROVIDER_ID.test(providerId);
  return { kind: "node-changed", node, ...(isKey && { providerId }), ...(isNew && { isNew }) };
}

/**
 * Delay of wake-ups whose cause swarms (core/passes/causes.ts), in milliseconds: pods and nodes change many at a
 * time, and one disruption pass this long after the first change serves all of them.
 */
export const SETTLE_MS = 5_000;

/**
 * The webhook is called before the object is written, ms: a function that reads at once may see the old state, and no
 * second notification follows.
 */
export const UNTIL_WRITTEN_MS = 1_000;

/**
 * The wake-ups that signals call for, each once, however many signals call for it. A node's NodeClaim is found by its
 * instance, which is a look-up: `claimOf` has the names of the NodeClaims that were found, by provider id.
 */
export function wakeUpsFor(cluster: string, signals: readonly Signal[], claimOf: ReadonlyMap<string, string>): readonly WakeUp[] {
  const pods = new Set(signals.flatMap((signal) => (signal.kind === "pod-unschedulable" ? [signal.pod] : [])));
  const moved = signals.some(({ kind }) => kind === "pod-moved");
  const changed = signals.flatMap((signal) => (signal.kind === "pool-or-class-changed" ? [signal.name] : []));
  const claims = new Set(signals.flatMap((signal) => (signal.kind === "claim-changed" ? [signal.claim] : [])));
  const ofNodes = new Map<string, "node" | "new-node">();
  for (const signal of signals) {
    const claim = signal.kind === "node-changed" ? claimOf.get(signal.providerId ?? "") : undefined;
    if (signal.kind !== "node-changed" || claim === undefined || claims.has(claim)) continue;
    ofNodes.set(claim, signal.isNew && ofNodes.get(claim) !== "node" ? "new-node" : "node");
  }
  const buffers = signals.flatMap((signal) => (signal.kind === "buffer-changed" ? [signal.name] : []));
  // One plan is made for both. The pods name its cause because they are what users wait for.
  const unplanned: readonly WakeUpReason<"provision">[] =
    pods.size > 0
      ? [{ cause: "PodsUnschedulable", detail: String(pods.size) }]
      : buffers.slice(0, 1).map((detail) => ({ cause: "BufferChanged", detail }));
  return [
    ...unplanned.map((reason) => ({ kind: "provision", cluster, ...reason }) as const),
    ...(changed[0] ? [{ kind: "catalog", cluster, cause: "ObjectChanged", detail: changed[0] } as const] : []),
    ...[...claims].sort().map((claim) => ({ kind: "claim", cluster, claim }) as const),
    ...[...ofNodes].sort().map(([claim, about]) => ({ kind: "claim", cluster, claim, about }) as const),
    ...(moved ? [{ kind: "disruption", cluster, cause: "PodsMoved", delayMs: SETTLE_MS } as const] : []),
  ];
}
