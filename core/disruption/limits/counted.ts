import type { CommandRecord } from "../../model/command-record.ts";
import type { NodePool } from "../../model/node-pool.ts";
import type { RateSetting } from "../settings.ts";
import { type CircuitBreaker, circuitHold } from "./circuit-breaker.ts";
import { type DisruptionRate, isUnlimited, leftOf } from "./rate-limit.ts";

/** The window of the rate that a decision is made in. */
export interface RateInput {
  readonly setting: RateSetting;
  readonly window: DisruptionRate;
}

/** Emptiness moves no pod, and a NodePool sleeps because a person has asked for it. */
export const isCountedMethod = (method: CommandRecord["method"]): boolean => method !== "emptiness" && method !== "sleep";

/** The NodeClaims of a command that count: their pods move, and no person has written that all may go at once. */
export function countedIn({ method, reason, candidates }: CommandRecord, pools: readonly NodePool[], now: number): readonly string[] {
  if (!isCountedMethod(method)) return [];
  const unlimited = new Set(pools.flatMap((pool) => (isUnlimited(pool, reason, now) ? [pool.metadata.name] : [])));
  return candidates.flatMap(({ nodeClaim, nodePool, pods }) => (pods.length > 0 && !unlimited.has(nodePool) ? [nodeClaim] : []));
}

/** Whether the circuit breaker holds a command: since it was decided, pods of a NodePool have been seen to be worse. */
export function isHeld(command: CommandRecord, pools: readonly NodePool[], now: number, breaker: CircuitBreaker | undefined): boolean {
  if (breaker === undefined || !isCountedMethod(command.method)) return false;
  const moving = new Set(command.candidates.flatMap(({ nodePool, pods }) => (pods.length > 0 ? [nodePool] : [])));
  return pools.some((pool) => moving.has(pool.metadata.name) && circuitHold(breaker, pool, command.reason, now) !== undefined);
}

/** Whether the rate leaves less than a command takes: since it was decided, others have used it. */
export function exceedsRate(command: CommandRecord, pools: readonly NodePool[], now: number, rate: RateInput | undefined): boolean {
  if (rate === undefined) return false;
  const more = countedIn(command, pools, now).filter((name) => rate.window.ended[name] === undefined);
  return more.length > leftOf(rate.window, rate.setting);
}
