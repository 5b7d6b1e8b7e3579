import type { Lineage } from "./lineage.ts";

/** A message as a handler receives it. */
export interface Message {
  readonly id: string;
  readonly body: string;
  /** From 1. */
  readonly receiveCount: number;
  /** ms since the epoch. */
  readonly sentAt: number;
  readonly group?: string;
  readonly sender?: string;
  /** That of the invocation that sent it; absent for what no function has sent. */
  readonly lineage?: Lineage;
}

export interface SendOptions {
  readonly delayMs?: number;
  /** FIFO: one message of a group at a time, in order. */
  readonly group?: string;
  /** FIFO: a second message with the same id within five minutes is dropped. */
  readonly dedupId?: string;
  /** Standard: the sender on whose behalf the message is sent; the queue is fair to senders. */
  readonly sender?: string;
  readonly lineage?: Lineage;
}

/** Faults of a queue. Each is asked once for each message; without one nothing goes wrong. */
export interface QueueFaults {
  /** How many more times the message is delivered. */
  duplicate?(body: string): number;
  /** How long the message is held back, ms, so that others overtake it. */
  delay?(body: string): number;
  lose?(body: string): boolean;
}

export interface QueueOptions {
  readonly name: string;
  readonly fifo?: boolean;
  /** Delay before the first delivery, ms, unless the message has its own: a batching window. */
  readonly delayMs?: number;
  /** How long a message that failed stays invisible, ms. */
  readonly visibilityMs?: number;
  /** How many deliveries before the message becomes a dead letter; 0 means no limit. */
  readonly maxReceives?: number;
  /** Age at which a message is dropped, ms. */
  readonly retentionMs?: number;
  /** How many messages of a standard queue one invocation may get; 1 when absent. */
  readonly batchSize?: number;
  /** How many invocations a standard queue has at once; no bound, and no slow beginning, when absent. */
  readonly maxConcurrency?: number;
}
