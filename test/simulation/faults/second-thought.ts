import type { CommandRecord } from "#core/model/command-record.ts";
import type { Lab } from "#lab/host.ts";
import type { MutableObject } from "#lab/world/store.ts";
import { USER } from "#lab/world/world.ts";
import type { Fault } from "../script.ts";

/**
 * Changes what a disruption command was decided on: more pods, a pod on its node that is not to be disrupted, or a
 * closed budget. False when there is nothing to change.
 */
export function thinkAgain(how: Extract<Fault, { what: "second thought" }>["how"], { candidates }: CommandRecord, { world }: Lab): boolean {
  const [candidate] = candidates;
  if (candidate === undefined) return false;
  if (how === "pods") {
    const deployments = world.store.list("Deployment");
    for (const { metadata, spec } of deployments)
      world.scale("Deployment", metadata.namespace, metadata.name, (spec as { readonly replicas: number }).replicas + 2);
    return deployments.length > 0;
  }
  if (how === "hold") {
    const [namespace, name] = candidate.pods[0]?.split("/") ?? [];
    const change = (pod: MutableObject): MutableObject => {
      pod.metadata.annotations = { ...pod.metadata.annotations, "karpenter.sh/do-not-disrupt": "true" };
      return pod;
    };
    return name !== undefined && world.store.patch("Pod", name, namespace, { user: USER }, change) !== undefined;
  }
  const close = (pool: MutableObject): MutableObject => {
    pool.spec.disruption = { ...pool.spec.disruption, budgets: [{ nodes: "0" }] };
    return pool;
  };
  return world.store.patch("NodePool", candidate.nodePool, undefined, { user: USER }, close) !== undefined;
}
