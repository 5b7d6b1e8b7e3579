import type { WakeUpReason } from "./wake-up-causes.ts";

/**
 * "Look at this soon": the only thing that events carry. The function that is woken reads the present state itself, so
 * a wake-up may be lost, late, doubled or folded with an equal one.
 *
 *     { kind: "provision", cluster: "prod", cause: "NodePoolReady", detail: "default" }
 *     { kind: "claim", cluster: "prod", claim: "default-x7k2p", delayMs: 5_000 }
 */
export type WakeUp =
  | (CausedBy<"provision"> & Later)
  | (CausedBy<"disruption"> & Later)
  | (CausedBy<"catalog"> & Later)
  | {
      readonly kind: "claim";
      readonly cluster: string;
      readonly claim: string;
      readonly delayMs?: number;
      /**
       * The `dueAt` of the record that this wake-up was made for. A record with another `dueAt` has been reconciled
       * since, and has a wake-up of its own: this one is dropped.
       */
      readonly dueAt?: number;
      /** It comes before `dueAt`, to find out whether what is waited for has come (core/lifecycle/polls.ts). */
      readonly isPoll?: boolean;
      /** Only the node of the NodeClaim has changed, as far as is known; "new-node": has joined, and is not Ready. */
      readonly about?: "node" | "new-node";
    }
  /** The lifecycle looks after all NodeClaims of the cluster; other functions are woken for it by the cause Sweep. */
  | ({ readonly kind: "sweep"; readonly cluster: string } & Later);

interface Later {
  readonly delayMs?: number;
  /** The number of the attempt, from 1, which is that of a wake-up without one. */
  readonly attempt?: number;
}

/** Whether the wake-up asks for a cluster's part of a scheduled sweep. */
export const isSweep = (wakeUp: WakeUp): boolean => wakeUp.kind === "sweep" || (wakeUp.kind !== "claim" && wakeUp.cause === "Sweep");

type CausedBy<K extends "provision" | "disruption" | "catalog"> = WakeUpReason<K> & { readonly kind: K; readonly cluster: string };

/**
 * How long every wake-up for a plan is held back, ms, so that those of one moment become one: the plan begins after
 * each wake-up that it serves.
 */
export const PLAN_HELD_BACK_MS = 1_000;

/** Seconds from a failed attempt, from 1, to the next one: 2, 4, 8, 16, 30, 30 … */
export const retryAfterSeconds = (attempt: number): number => Math.min(30, 2 ** attempt);

/**
 * Asks for later work. Delays are at most 15 minutes, a queue's limit: the function that is woken looks at the clock
 * and asks again. Equal wake-ups may be folded into one.
 */
export interface WakeUps {
  wake(wakeUps: readonly WakeUp[]): Promise<void>;
}
