import { shortened } from "#core/lib/shortened.ts";
import { type Transition, transitionsOf, transitionText } from "#core/model/condition-transitions.ts";
import type { Condition, ObjectMeta } from "#core/model/kubernetes.ts";
import type { Kinds } from "#core/ports/kubernetes.ts";
import type { ClusterDeps } from "./cluster-deps.ts";

/** Kinds whose conditions and finalizers have events; a Node's conditions are the kubelet's. */
type Reported = "NodeClaim" | "NodePool" | "EC2NodeClass" | "CapacityBuffer";

type Writer = Pick<ClusterDeps, "kubernetes">;

/** Longest part of a condition's message in an event, which the API server limits to 1,024 bytes. */
const MAX_MESSAGE_LENGTH = 300;

/**
 * Writes the status of an object, then publishes an event for each condition whose status has changed since `before`.
 * The write names the version that was read, so that the invocation that made a transition publishes it, and the table
 * need not remember it; an invocation that is killed between the two publishes nothing. Throws what updateStatus
 * throws.
 */
export async function writeStatus<K extends Reported>(
  kind: K,
  object: Kinds[K],
  before: readonly Condition[] | undefined,
  { kubernetes }: Writer,
): Promise<Kinds[K]> {
  const written = await kubernetes.updateStatus(kind, object);
  const transitions = transitionsOf(before, object.status?.conditions);
  await Promise.all(transitions.map((transition) => publishTransition(kind, object.metadata, transition, { kubernetes })));
  return written;
}

async function publishTransition(kind: Reported, metadata: ObjectMeta, { from, to }: Transition, { kubernetes }: Writer): Promise<void> {
  const message = transitionText({ from, to: { ...to, ...(to.message && { message: shortened(to.message, MAX_MESSAGE_LENGTH) }) } });
  await kubernetes.publish({ type: "Normal", reason: to.type, message, about: { kind, metadata } });
}

/** Publishes that a finalizer was removed, which the object's last write does. */
export async function publishFinalized(
  kind: "NodeClaim" | "Node" | "EC2NodeClass",
  { metadata }: { readonly metadata: ObjectMeta },
  finalizer: string,
  { kubernetes }: Writer,
): Promise<void> {
  await kubernetes.publish({ type: "Normal", reason: "Finalized", message: `Finalized ${finalizer}`, about: { kind, metadata } });
}
