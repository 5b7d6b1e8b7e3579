import { wakeUpBody } from "#adapters/aws/wake-up-queue.ts";
import type { ChangeVisibility } from "#adapters/lambda/batch.ts";
import type { WakeUp, WakeUps } from "#core/ports/wake-ups.ts";
import { currentInvocation } from "./invocation.ts";
import type { QueueOptions } from "./message.ts";
import { type Queue, simulatedQueue } from "./queue.ts";
import type { LabWorld } from "./world.ts";

export interface SimulatedWakeUps extends WakeUps {
  readonly provision: Queue;
  readonly claims: Queue;
  readonly disruption: Queue;
  readonly catalog: Queue;
  readonly interruption: Queue;
}

/** Changes when messages of the queue are visible again. */
export const visibilityIn =
  (queue: Queue): ChangeVisibility =>
  async ({ messageId }, seconds) =>
    queue.changeVisibility(messageId, seconds * 1_000);

const delayOf = (wakeUp: WakeUp): number => ("delayMs" in wakeUp && wakeUp.delayMs) || 0;

/** Delay, retention and visibility of the stack's queues, ms. A test compares them with infra. */
export const STACK_QUEUES = {
  provision: { fifo: true, delayMs: 1_000, retentionMs: 3_600_000, visibilityMs: 120_000, maxReceives: 5 },
  claims: { fifo: false, delayMs: 0, retentionMs: 3_600_000, visibilityMs: 120_000, maxReceives: 20 },
  disruption: { fifo: false, delayMs: 0, retentionMs: 7_200_000, visibilityMs: 240_000, maxReceives: 20 },
  catalog: { fifo: false, delayMs: 0, retentionMs: 14_400_000, visibilityMs: 600_000, maxReceives: 20 },
  interruption: { fifo: false, delayMs: 0, retentionMs: 300_000, visibilityMs: 40_000, maxReceives: 7 },
} as const;

/** How a queue starts its function. */
type EventSource = Pick<QueueOptions, "batchSize" | "maxConcurrency">;

/**
 * The queues of the stack behind the WakeUps port.
 * @param source how each queue starts its function, or how many messages one invocation may get, of all queues alike;
 * when absent, one message, without a bound of invocations
 */
export function simulatedWakeUps(
  world: LabWorld,
  source: number | ((queue: keyof typeof STACK_QUEUES) => EventSource) = 1,
): SimulatedWakeUps {
  const sourceOf = (name: keyof typeof STACK_QUEUES): EventSource => (typeof source === "function" ? source(name) : { batchSize: source });
  const queue = (name: keyof typeof STACK_QUEUES): Queue => simulatedQueue(world, { name, ...STACK_QUEUES[name], ...sourceOf(name) });
  const provision = queue("provision");
  const claims = queue("claims");
  const disruption = queue("disruption");
  const catalog = queue("catalog");
  const interruption = queue("interruption");
  /** Wake-ups of one kind within a second are one wake-up. */
  const bucket = (cluster: string): string => `${cluster}-${Math.floor(world.clock.now() / 1_000)}`;
  const put = (wakeUp: WakeUp): void => {
    const body = wakeUpBody(wakeUp);
    // SQS counts in seconds, and the real sender rounds up.
    const lineage = currentInvocation()?.lineage;
    const delay = { delayMs: Math.ceil(delayOf(wakeUp) / 1_000) * 1_000, sender: wakeUp.cluster, ...(lineage && { lineage }) };
    const later = delay.delayMs - STACK_QUEUES.provision.delayMs;
    switch (wakeUp.kind) {
      case "provision":
        if (later > 0) claims.send(body, { ...delay, delayMs: later });
        else provision.send(body, { group: wakeUp.cluster, dedupId: bucket(wakeUp.cluster), ...(lineage && { lineage }) });
        break;
      case "claim":
      case "sweep":
        claims.send(body, delay);
        break;
      case "disruption":
        disruption.send(body, delay);
        break;
      case "catalog":
        catalog.send(body, delay);
        break;
    }
  };
  return {
    provision,
    claims,
    disruption,
    catalog,
    interruption,
    async wake(wakeUps) {
      // Of several wake-ups about one subject in one call only the soonest is sent, as the real sender does.
      const isLater = (w: WakeUp): boolean => w.kind === "provision" && delayOf(w) > STACK_QUEUES.provision.delayMs;
      const bySubject = Map.groupBy(
        wakeUps,
        (w) =>
          `${w.kind}/${isLater(w)}/${w.cluster}/${w.kind === "claim" ? `${w.claim}/${w.about ?? ""}/${w.isPoll ? delayOf(w) : ""}` : ""}`,
      );
      for (const [first, ...others] of bySubject.values()) {
        if (first) put(others.reduce((soonest, w) => (delayOf(w) < delayOf(soonest) ? w : soonest), first));
      }
    },
  };
}
