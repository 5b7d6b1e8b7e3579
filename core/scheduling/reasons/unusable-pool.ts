import { BESIDE_READY } from "../../model/conditions.ts";
import type { Condition } from "../../model/kubernetes.ts";
import type { NodePool } from "../../model/node-pool.ts";
import { foreignNodeClass } from "../../node-pool/foreign-class.ts";
import { expiryProblem, launchHold } from "../../node-pool/launch-backoff.ts";
import { sleepOf, sleepText } from "../../node-pool/schedule.ts";

/**
 * Why a pool launches no nodes for any pending pod at `now` (ms); undefined when it does. `hasTypes` says whether
 * instance types are known for the pool: a pool without types whose class is not an EC2NodeClass belongs to another
 * controller.
 */
export function unusablePool(pool: NodePool, hasTypes: boolean, now: number): string | undefined {
  const { metadata, spec } = pool;
  if (metadata.deletionTimestamp) return "is being deleted";
  const foreign = hasTypes ? undefined : foreignNodeClass({ spec });
  if (foreign !== undefined) return `cannot be used: ${foreign}`;
  if (spec.replicas !== undefined && spec.replicas !== null) {
    return `is static (spec.replicas is ${spec.replicas}): it keeps its number of nodes and adds none for pods; raise spec.replicas, or make a pool without it`;
  }
  const sleep = sleepOf(pool, now);
  if (sleep.isAsleep) return sleepText(pool, sleep);
  const expiry = expiryProblem(pool);
  if (expiry !== undefined) return `cannot be used: ${expiry}`;
  const hold = launchHold(pool, now);
  if (hold !== undefined) return hold.text;
  return notReady(pool.status?.conditions ?? []);
}

function notReady(conditions: readonly Condition[]): string | undefined {
  const ready = conditions.find(({ type }) => type === "Ready");
  if (ready === undefined || ready.status === "True") return undefined;
  const { type, reason, message } = cause(conditions) ?? ready;
  const why = [...(type === "Ready" ? [] : [type]), ...(reason ? [reason] : []), ...(message ? [message] : [])];
  return why.length === 0 ? "is not Ready; see its status" : `is not Ready: ${why.join(": ")}`;
}

/**
 * The condition behind a Ready that is not True: a False one, else an Unknown one, which may only wait for its
 * controller.
 */
function cause(conditions: readonly Condition[]): Condition | undefined {
  const others = conditions.filter(({ type, status }) => status !== "True" && type !== "Ready" && !BESIDE_READY.has(type));
  return others.find(({ status }) => status === "False") ?? others[0];
}
