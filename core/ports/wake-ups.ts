/** "Look at this soon": the only thing that events carry (architecture.md, idea 1). */
export type WakeUp =
  | { readonly kind: "provision"; readonly cluster: string; readonly reason: string }
  | { readonly kind: "disruption"; readonly cluster: string; readonly reason: string; readonly delayMs?: number }
  | { readonly kind: "catalog"; readonly cluster: string; readonly reason: string; readonly delayMs?: number }
  | {
      readonly kind: "claim";
      readonly cluster: string;
      readonly claim: string;
      readonly delayMs?: number;
      /** The record's dueAt that this wake-up was made for; when the record has another by then, somebody else looks after it and this one is dropped. */
      readonly dueAt?: number;
    };

/** Asks for later work. Delays are at most 15 minutes (a queue's limit): who is woken looks at the clock and asks again. Equal wake-ups may fold into one. */
export interface WakeUps {
  wake(wakeUps: readonly WakeUp[]): Promise<void>;
}
