import type { Pod } from "#core/model/pod.ts";
import { PRODUCT } from "#lab/world/api-server.ts";
import { currentInvocation, type Invocation } from "#lab/world/invocation.ts";
import { heldSince } from "../pauses.ts";
import { CLUSTER, isStaticPool, nodeOf } from "./facts.ts";
import type { ClaimLife } from "./history.ts";
import type { Invariant, Scene } from "./invariant.ts";

/** How long after its order a pause is in force at the latest (docs/pause.md). */
const IN_FORCE_MS = 10_000;

/** Whether only the product's own decision ends the NodeClaim, and neither EC2, a person nor a launch that failed. */
function isVoluntary(life: ClaimLife | undefined, { lab, faults }: Scene): boolean {
  if (life === undefined || life.deletedBy !== PRODUCT || life.byUser) return false;
  if (life.notice !== undefined || life.machineEndedAt !== undefined || life.nodeDeletedAt !== undefined) return false;
  // A person has lowered its replicas, and NodeClaims whose record is lost have been deleted by whoever it was.
  const pool = lab.world.store.list("NodePool").find(({ metadata }) => metadata.name === life.pool);
  if (pool === undefined || isStaticPool(pool as never) || faults.recordsLostAt() > life.addedAt) return false;
  return life.initializedAt !== undefined;
}

export const pausesHold: Invariant = {
  name: "pauses hold",
  law: "From 10 s after a pause until its end nothing is bought, and no pod is evicted and no machine ended by the product's own decision.",
  watch(scene, violated) {
    const { lab, history, faults } = scene;
    const lastCalls = new WeakMap<Invocation, number>();
    /** How long the scope has been held, by which an invocation that was not held up itself must know it. */
    const isHeld = (scope: "disruption" | "launches"): boolean => {
      const now = lab.world.clock.now();
      const since = heldSince(lab, scope, now);
      if (since === undefined || faults.recordsLostAt() > since) return false;
      const known = since + IN_FORCE_MS + history.skewMs;
      // The function's own clock may be ahead of the end.
      if (heldSince(lab, scope, now + history.skewMs) === undefined) return false;
      const invocation = currentInvocation();
      return now > known && (invocation === undefined || (lastCalls.get(invocation) ?? now) > known);
    };
    const ends = (life: ClaimLife | undefined, what: string): void => {
      if (isHeld("disruption") && isVoluntary(life, scene)) violated(`${what} of claim ${life?.name} although disruption is paused`);
    };
    return {
      onCall: ({ port, method, args }) => {
        if (port === "fleet" && method === "launch") {
          const [request] = args as [{ readonly tags: Readonly<Record<string, string>>; readonly clientToken: string }];
          if (request.tags[CLUSTER] === lab.world.cluster && isHeld("launches"))
            violated(`launch ${request.clientToken} was sent although launches are paused`);
        }
        if (port === "fleet" && method === "terminate") ends(history.claimOfInstance((args as [string])[0]), "the machine was ended");
        const invocation = currentInvocation();
        if (invocation) lastCalls.set(invocation, lab.world.clock.now());
      },
      onChange: ({ kind, user, verb, object, old }) => {
        if (kind !== "Pod" || user !== PRODUCT || verb !== "delete") return;
        const node = nodeOf((old ?? object) as unknown as Pod, lab);
        if (node) ends(history.claimOfNode(node.metadata.name), "a pod was made to go");
      },
    };
  },
};
