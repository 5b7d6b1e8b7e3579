import type { WakeUp, WakeUps } from "../../core/ports/wake-ups.ts";
import { wakeUpBody } from "../../functions/adapters/aws/wake-up-queue.ts";
import { hash } from "./random.ts";
import type { LabWorld } from "./world.ts";

/** A message as a handler receives it. */
export interface Message {
  readonly id: string;
  readonly body: string;
  /** From 1. */
  readonly receiveCount: number;
  /** ms since the epoch. */
  readonly sentAt: number;
  readonly group?: string;
}

export interface SendOptions {
  readonly delayMs?: number;
  /** FIFO: one message of a group at a time, in order. */
  readonly group?: string;
  /** FIFO: a second message with the same id within five minutes is dropped. */
  readonly dedupId?: string;
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
}

export interface Queue {
  readonly name: string;
  send(body: string, options?: SendOptions): void;
  /** Sets the one subscriber, a Lambda function's event source. A rejection returns the message. */
  subscribe(handler: (message: Message) => Promise<void>): void;
  /**
   * The same for a subscriber that takes up to `batchSize` messages at once. It resolves to the ids of the messages
   * that return; a rejection returns all.
   */
  subscribeBatches(handler: (messages: readonly Message[]) => Promise<ReadonlySet<string>>): void;
  faults: QueueFaults;
  readonly deadLetters: readonly Message[];
  /** The errors of the handler, in order; KilledError for invocations that a simulation killed. */
  readonly failures: readonly { readonly at: number; readonly message: Message; readonly error: unknown }[];
  /** The number of messages that wait or are being handled. */
  depth(): number;
  /** The number of deliveries so far. */
  delivered(): number;
  /** The number of invocations so far that got several messages. */
  batches(): number;
}

const NONE: ReadonlySet<string> = new Set();
/** How long messages are gathered for a batch, ms: Lambda polls a queue many times a second. */
const GATHER_MS = 100;
/** How long a FIFO queue remembers an id, and the longest delay of a message: SQS's own limits. */
const DEDUP_MS = 300_000;
const MAX_DELAY_MS = 900_000;

/**
 * An SQS queue with a Lambda function behind it. A standard queue delivers at least once and in no order; a FIFO queue
 * in order within a group, one message at a time.
 */
export function simulatedQueue(world: LabWorld, options: QueueOptions): Queue {
  const { clock } = world;
  const { name, fifo = false, delayMs = 0, visibilityMs = 30_000, maxReceives = 0, retentionMs = 345_600_000, batchSize = 1 } = options;
  const random = world.random.fork(`queue ${name}`);
  const seen = new Map<string, number>();
  const groups = new Map<string, { busy: boolean; readonly waiting: Message[] }>();
  const gathered: Message[] = [];
  const deadLetters: Message[] = [];
  const failures: { readonly at: number; readonly message: Message; readonly error: unknown }[] = [];
  let handler: ((messages: readonly Message[]) => Promise<ReadonlySet<string>>) | undefined;
  let depth = 0;
  let delivered = 0;
  let batches = 0;

  const finish = (message: Message): void => {
    depth--;
    release(message);
  };
  const release = (message: Message): void => {
    const group = message.group === undefined ? undefined : groups.get(message.group);
    if (!group) return;
    group.busy = false;
    const next = group.waiting.shift();
    if (next) deliver(next, 0);
  };

  const deliver = (message: Message, afterMs: number): void => {
    clock.after(afterMs, `queue ${name}`, () => {
      if (message.group !== undefined) {
        const group = groups.get(message.group) ?? { busy: false, waiting: [] };
        groups.set(message.group, group);
        if (group.busy) {
          group.waiting.push(message);
          return undefined;
        }
        group.busy = true;
      } else if (batchSize > 1) {
        gathered.push(message);
        if (gathered.length === 1) clock.after(GATHER_MS, `queue ${name} gathers`, handGathered);
        return undefined;
      }
      return hand([message]);
    });
  };
  const handGathered = (): void => {
    while (gathered.length > 0) {
      const batch = gathered.splice(0, batchSize);
      clock.after(0, `queue ${name} batch`, () => hand(batch));
    }
  };
  const hand = async (batch: readonly Message[]): Promise<void> => {
    const kept = batch.filter(({ sentAt }) => clock.now() - sentAt <= retentionMs);
    for (const message of batch) if (!kept.includes(message)) finish(message);
    if (kept.length === 0) return;
    if (!handler) {
      depth -= kept.length;
      return;
    }
    delivered += kept.length;
    if (kept.length > 1) batches++;
    let returned: ReadonlySet<string>;
    let why: unknown = new Error("the handler gave the message back");
    try {
      returned = await handler(kept);
    } catch (error) {
      why = error;
      returned = new Set(kept.map(({ id }) => id));
    }
    for (const message of kept) {
      if (returned.has(message.id)) giveBack(message, why);
      else finish(message);
    }
  };
  const giveBack = (message: Message, error: unknown): void => {
    failures.push({ at: clock.now(), message, error });
    if (maxReceives > 0 && message.receiveCount >= maxReceives) {
      deadLetters.push(message);
      finish(message);
      return;
    }
    const again = { ...message, receiveCount: message.receiveCount + 1 };
    if (message.group === undefined) {
      deliver(again, visibilityMs);
      return;
    }
    // A FIFO group is blocked until its first message is visible again, so that no message overtakes it.
    clock.after(visibilityMs, `queue ${name} visible again`, () => {
      const group = groups.get(message.group ?? "");
      if (group) group.busy = false;
      deliver(again, 0);
    });
  };

  const queue: Queue = {
    name,
    faults: {},
    deadLetters,
    failures,
    send(body, { delayMs: own, group, dedupId } = {}) {
      if (fifo) {
        const id = dedupId ?? hash(body).toString(16);
        const before = seen.get(id);
        if (before !== undefined && clock.now() - before < DEDUP_MS) return;
        seen.set(id, clock.now());
      }
      if (queue.faults.lose?.(body)) return;
      const copies = 1 + (queue.faults.duplicate?.(body) ?? 0);
      const wait = Math.min(fifo ? delayMs : (own ?? delayMs), MAX_DELAY_MS) + (queue.faults.delay?.(body) ?? 0);
      const message: Message = {
        id: random.uuid(),
        body,
        receiveCount: 1,
        sentAt: clock.now(),
        ...(fifo && { group: group ?? "" }),
      };
      for (let i = 0; i < copies; i++) {
        depth++;
        deliver({ ...message, receiveCount: 1 + i }, wait);
      }
    },
    subscribe: (fn) => {
      handler = async ([message]) => {
        if (message) await fn(message);
        return NONE;
      };
    },
    subscribeBatches: (fn) => {
      handler = fn;
    },
    depth: () => depth,
    delivered: () => delivered,
    batches: () => batches,
  };
  return queue;
}

export interface SimulatedWakeUps extends WakeUps {
  readonly provision: Queue;
  readonly claims: Queue;
  readonly disruption: Queue;
  readonly catalog: Queue;
  readonly interruption: Queue;
}

const delayOf = (wakeUp: WakeUp): number => ("delayMs" in wakeUp && wakeUp.delayMs) || 0;

/** Delay, retention and visibility of the stack's queues, ms. A test compares them with infra. */
export const STACK_QUEUES = {
  provision: { fifo: true, delayMs: 1_000, retentionMs: 3_600_000, visibilityMs: 120_000, maxReceives: 5 },
  claims: { fifo: false, delayMs: 0, retentionMs: 3_600_000, visibilityMs: 360_000, maxReceives: 5 },
  disruption: { fifo: false, delayMs: 0, retentionMs: 3_600_000, visibilityMs: 720_000, maxReceives: 3 },
  catalog: { fifo: false, delayMs: 0, retentionMs: 7_200_000, visibilityMs: 1_800_000, maxReceives: 3 },
  interruption: { fifo: false, delayMs: 0, retentionMs: 300_000, visibilityMs: 40_000, maxReceives: 4 },
} as const;

/**
 * The queues of the stack behind the WakeUps port.
 * @param batchSize how many messages one invocation may get; 1 when absent
 */
export function simulatedWakeUps(world: LabWorld, batchSize?: number): SimulatedWakeUps {
  const queue = (name: keyof typeof STACK_QUEUES): Queue =>
    simulatedQueue(world, { name, ...STACK_QUEUES[name], ...(batchSize !== undefined && { batchSize }) });
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
    const delay = { delayMs: Math.ceil(delayOf(wakeUp) / 1_000) * 1_000 };
    const later = delay.delayMs - STACK_QUEUES.provision.delayMs;
    switch (wakeUp.kind) {
      case "provision":
        if (later > 0) claims.send(body, { delayMs: later });
        else provision.send(body, { group: wakeUp.cluster, dedupId: bucket(wakeUp.cluster) });
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
        (w) => `${w.kind}/${isLater(w)}/${w.cluster}/${w.kind === "claim" ? `${w.claim}/${w.about ?? ""}` : ""}`,
      );
      for (const [first, ...others] of bySubject.values()) {
        if (first) put(others.reduce((soonest, w) => (delayOf(w) < delayOf(soonest) ? w : soonest), first));
      }
    },
  };
}
