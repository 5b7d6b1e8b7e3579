import { wakeUpBody } from "#adapters/aws/wake-up-queue.ts";
import type { WakeUp, WakeUps } from "#core/ports/wake-ups.ts";
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
  readonly sender?: string;
}

export interface SendOptions {
  readonly delayMs?: number;
  /** FIFO: one message of a group at a time, in order. */
  readonly group?: string;
  /** FIFO: a second message with the same id within five minutes is dropped. */
  readonly dedupId?: string;
  /** Standard: the sender on whose behalf the message is sent; the queue is fair to senders. */
  readonly sender?: string;
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
 * Lambda begins to read a standard queue with five batches at once, and reads with 300 more a minute while messages are
 * left ("Configuring scaling behavior for SQS event source mappings"). Here it never reads with fewer again.
 */
const FIRST_READERS = 5;
const READERS_PER_SECOND = 5;
/**
 * A sender is noisy with more than this share of the messages in flight, of which it has so many at least, or of the
 * time that they have been in flight: then others' messages are read first ("How Amazon SQS fair queues work").
 */
const NOISY = { share: 0.1, messages: 30 };

/**
 * An SQS queue with a Lambda function behind it. A standard queue delivers at least once and in no order; a FIFO queue
 * in order within a group, one message at a time.
 */
export function simulatedQueue(world: LabWorld, options: QueueOptions): Queue {
  const { clock } = world;
  const { name, fifo = false, delayMs = 0, visibilityMs = 30_000, maxReceives = 0, retentionMs = 345_600_000, batchSize = 1 } = options;
  const { maxConcurrency } = options;
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
  let handling = 0;
  let readers = maxConcurrency === undefined ? Number.POSITIVE_INFINITY : Math.min(FIRST_READERS, maxConcurrency);
  let grows = false;
  /** Since when each message is in flight, ms since the epoch. */
  const inFlight = new Map<Message, number>();

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
      } else if (batchSize > 1 || maxConcurrency !== undefined) {
        gathered.push(message);
        if (gathered.length === 1) clock.after(GATHER_MS, `queue ${name} gathers`, handGathered);
        return undefined;
      }
      return hand([message]);
    });
  };
  const handGathered = (): void => {
    while (gathered.length > 0 && handling < readers) {
      const batch = nextBatch();
      handling++;
      clock.after(0, `queue ${name} batch`, () => handCounted(batch));
    }
    if (gathered.length > 0) growLater();
  };
  /** The messages of quiet senders first, each in the order of their arrival. */
  const nextBatch = (): Message[] => {
    if (gathered.length <= batchSize) return gathered.splice(0);
    const isNoisy = noisySenders();
    const chosen = [...gathered].sort((a, b) => Number(isNoisy(a)) - Number(isNoisy(b))).slice(0, batchSize);
    for (const message of chosen) gathered.splice(gathered.indexOf(message), 1);
    return chosen;
  };
  const noisySenders = (): ((message: Message) => boolean) => {
    const sums = new Map<string, { messages: number; ms: number }>();
    let ms = 0;
    for (const [{ sender = "" }, since] of inFlight) {
      const own = sums.get(sender) ?? { messages: 0, ms: 0 };
      sums.set(sender, { messages: own.messages + 1, ms: own.ms + clock.now() - since });
      ms += clock.now() - since;
    }
    const noisy = new Set(
      [...sums].flatMap(([sender, own]) => {
        const hasMany = own.messages >= NOISY.messages && own.messages > NOISY.share * inFlight.size;
        return hasMany || own.ms > NOISY.share * ms ? [sender] : [];
      }),
    );
    return ({ sender }) => sender !== undefined && noisy.has(sender);
  };
  const handCounted = async (batch: readonly Message[]): Promise<void> => {
    for (const message of batch) inFlight.set(message, clock.now());
    await hand(batch);
    for (const message of batch) inFlight.delete(message);
    handling--;
    if (gathered.length > 0 && maxConcurrency !== undefined) clock.after(0, `queue ${name} continues`, handGathered);
  };
  /** Messages wait for a reader: a second later there are more of them. */
  const growLater = (): void => {
    if (grows || maxConcurrency === undefined || readers >= maxConcurrency) return;
    grows = true;
    clock.after(1_000, `queue ${name} gets readers`, () => {
      grows = false;
      if (gathered.length === 0) return;
      readers = Math.min(maxConcurrency, readers + READERS_PER_SECOND);
      handGathered();
    });
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
    send(body, { delayMs: own, group, dedupId, sender } = {}) {
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
        ...(sender !== undefined && { sender }),
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

/** How a queue starts its function. */
export type EventSource = Pick<QueueOptions, "batchSize" | "maxConcurrency">;

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
    const delay = { delayMs: Math.ceil(delayOf(wakeUp) / 1_000) * 1_000, sender: wakeUp.cluster };
    const later = delay.delayMs - STACK_QUEUES.provision.delayMs;
    switch (wakeUp.kind) {
      case "provision":
        if (later > 0) claims.send(body, { ...delay, delayMs: later });
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
