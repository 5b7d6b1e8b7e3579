/** "Reconcile this soon". Events carry nothing else: each decision reads the state of the cluster itself. */
export type WakeUp =
  | { readonly kind: "provision"; readonly cluster: string; readonly reason: string }
  | { readonly kind: "disruption"; readonly cluster: string; readonly reason: string; readonly delayMs?: number }
  | { readonly kind: "catalog"; readonly cluster: string; readonly reason: string; readonly delayMs?: number }
  | {
      readonly kind: "claim";
      readonly cluster: string;
      readonly claim: string;
      readonly delayMs?: number;
      /**
       * The record's dueAt for which this wake-up was sent. When the record has another dueAt, a later wake-up serves
       * it and this one is dropped.
       */
      readonly dueAt?: number;
    };

/**
 * Schedules later work. A delay is at most 15 minutes, the limit of an SQS queue: the receiver compares the clock with
 * the record and schedules the rest. Equal wake-ups may be merged.
 */
export interface WakeUps {
  wake(wakeUps: readonly WakeUp[]): Promise<void>;
}
