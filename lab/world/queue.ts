import type { VirtualClock } from "./clock.ts";
import { noisySenders } from "./fair-queue.ts";
import type { Message, QueueFaults, QueueOptions, SendOptions } from "./message.ts";
import { hash, type Random } from "./random.ts";
import type { LabWorld } from "./world.ts";

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
  /** When the message is visible again if the invocation that has it gives it back, ms from now; by its id. */
  changeVisibility(id: string, ms: number): void;
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
/** SQS's own defaults. */
const DEFAULT_VISIBILITY_MS = 30_000;
const DEFAULT_RETENTION_MS = 345_600_000;
/**
 * Lambda begins to read a standard queue with five batches at once, and reads with 300 more a minute while messages are
 * left ("Configuring scaling behavior for SQS event source mappings"). Here it never reads with fewer again.
 */
const FIRST_READERS = 5;
const READERS_PER_SECOND = 5;
/** What the subscriber of a queue does with messages: the ids of those that return. */
type Handler = (messages: readonly Message[]) => Promise<ReadonlySet<string>>;

interface Failure {
  readonly at: number;
  readonly message: Message;
  readonly error: unknown;
}

/**
 * An SQS queue with a Lambda function behind it. A standard queue delivers at least once and in no order; a FIFO queue
 * in order within a group, one message at a time.
 */
class SimulatedQueue implements Queue {
  readonly name: string;
  readonly deadLetters: Message[] = [];
  readonly failures: Failure[] = [];
  faults: QueueFaults = {};
  readonly #clock: VirtualClock;
  readonly #random: Random;
  readonly #options: QueueOptions;
  /** When each id was last sent to a FIFO queue, ms since the epoch. */
  readonly #seen = new Map<string, number>();
  readonly #groups = new Map<string, { busy: boolean; readonly waiting: Message[] }>();
  readonly #gathered: Message[] = [];
  /** Since when each message is in flight, ms since the epoch. */
  readonly #inFlight = new Map<Message, number>();
  /** How long messages that are being handled stay invisible, where their handler says so, ms. */
  readonly #visibility = new Map<string, number>();
  #handler: Handler | undefined;
  #depth = 0;
  #delivered = 0;
  #batches = 0;
  #handling = 0;
  #readers: number;
  #grows = false;

  constructor({ clock, random }: LabWorld, options: QueueOptions) {
    this.name = options.name;
    this.#clock = clock;
    this.#random = random.fork(`queue ${options.name}`);
    this.#options = options;
    const { maxConcurrency } = options;
    this.#readers = maxConcurrency === undefined ? Number.POSITIVE_INFINITY : Math.min(FIRST_READERS, maxConcurrency);
  }

  send(body: string, { delayMs: own, group, dedupId, sender, lineage }: SendOptions = {}): void {
    const { fifo = false, delayMs = 0 } = this.#options;
    const now = this.#clock.now();
    if (fifo) {
      const id = dedupId ?? hash(body).toString(16);
      const before = this.#seen.get(id);
      if (before !== undefined && now - before < DEDUP_MS) return;
      this.#seen.set(id, now);
    }
    if (this.faults.lose?.(body)) return;
    const copies = 1 + (this.faults.duplicate?.(body) ?? 0);
    const wait = Math.min(fifo ? delayMs : (own ?? delayMs), MAX_DELAY_MS) + (this.faults.delay?.(body) ?? 0);
    const message: Message = {
      id: this.#random.uuid(),
      body,
      receiveCount: 1,
      sentAt: now,
      ...(fifo && { group: group ?? "" }),
      ...(sender !== undefined && { sender }),
      ...(lineage && { lineage }),
    };
    for (let i = 0; i < copies; i++) {
      this.#depth++;
      this.#deliver({ ...message, receiveCount: 1 + i }, wait);
    }
  }

  subscribe(handler: (message: Message) => Promise<void>): void {
    this.#handler = async ([message]) => {
      if (message) await handler(message);
      return NONE;
    };
  }

  subscribeBatches(handler: Handler): void {
    this.#handler = handler;
  }

  changeVisibility(id: string, ms: number): void {
    this.#visibility.set(id, ms);
  }

  // Counts are handed on without their queue.
  readonly depth = (): number => this.#depth;
  readonly delivered = (): number => this.#delivered;
  readonly batches = (): number => this.#batches;

  #deliver(message: Message, afterMs: number): void {
    const { batchSize = 1, maxConcurrency } = this.#options;
    this.#clock.after(afterMs, `queue ${this.name}`, () => {
      if (message.group !== undefined) {
        const group = this.#groups.get(message.group) ?? { busy: false, waiting: [] };
        this.#groups.set(message.group, group);
        if (group.busy) {
          group.waiting.push(message);
          return undefined;
        }
        group.busy = true;
      } else if (batchSize > 1 || maxConcurrency !== undefined) {
        this.#gathered.push(message);
        if (this.#gathered.length === 1) this.#clock.after(GATHER_MS, `queue ${this.name} gathers`, () => this.#handGathered());
        return undefined;
      }
      return this.#hand([message]);
    });
  }

  #handGathered(): void {
    while (this.#gathered.length > 0 && this.#handling < this.#readers) {
      const batch = this.#nextBatch();
      this.#handling++;
      this.#clock.after(0, `queue ${this.name} batch`, () => this.#handCounted(batch));
    }
    if (this.#gathered.length > 0) this.#growLater();
  }

  /** The messages of quiet senders first, each in the order of their arrival. */
  #nextBatch(): Message[] {
    const { batchSize = 1 } = this.#options;
    if (this.#gathered.length <= batchSize) return this.#gathered.splice(0);
    const isNoisy = noisySenders(this.#inFlight, this.#clock.now());
    const chosen = [...this.#gathered].sort((a, b) => Number(isNoisy(a)) - Number(isNoisy(b))).slice(0, batchSize);
    for (const message of chosen) this.#gathered.splice(this.#gathered.indexOf(message), 1);
    return chosen;
  }

  async #handCounted(batch: readonly Message[]): Promise<void> {
    for (const message of batch) this.#inFlight.set(message, this.#clock.now());
    await this.#hand(batch);
    for (const message of batch) this.#inFlight.delete(message);
    this.#handling--;
    const isBounded = this.#options.maxConcurrency !== undefined;
    if (this.#gathered.length > 0 && isBounded) this.#clock.after(0, `queue ${this.name} continues`, () => this.#handGathered());
  }

  /** Messages wait for a reader: a second later there are more of them. */
  #growLater(): void {
    const { maxConcurrency } = this.#options;
    if (this.#grows || maxConcurrency === undefined || this.#readers >= maxConcurrency) return;
    this.#grows = true;
    this.#clock.after(1_000, `queue ${this.name} gets readers`, () => {
      this.#grows = false;
      if (this.#gathered.length === 0) return;
      this.#readers = Math.min(maxConcurrency, this.#readers + READERS_PER_SECOND);
      this.#handGathered();
    });
  }

  async #hand(batch: readonly Message[]): Promise<void> {
    const { retentionMs = DEFAULT_RETENTION_MS } = this.#options;
    const kept = batch.filter(({ sentAt }) => this.#clock.now() - sentAt <= retentionMs);
    for (const message of batch) if (!kept.includes(message)) this.#finish(message);
    if (kept.length === 0) return;
    if (!this.#handler) {
      this.#depth -= kept.length;
      return;
    }
    this.#delivered += kept.length;
    if (kept.length > 1) this.#batches++;
    let returned: ReadonlySet<string>;
    let why: unknown = new Error("the handler gave the message back");
    try {
      returned = await this.#handler(kept);
    } catch (error) {
      why = error;
      returned = new Set(kept.map(({ id }) => id));
    }
    for (const message of kept) {
      if (returned.has(message.id)) this.#giveBack(message, why);
      else this.#finish(message);
    }
  }

  #giveBack(message: Message, error: unknown): void {
    const { maxReceives = 0, visibilityMs: usual = DEFAULT_VISIBILITY_MS } = this.#options;
    const visibilityMs = this.#visibility.get(message.id) ?? usual;
    this.#visibility.delete(message.id);
    this.failures.push({ at: this.#clock.now(), message, error });
    // SQS moves a message when it would be received once too often: until then it keeps its group shut.
    if (maxReceives > 0 && message.receiveCount >= maxReceives) {
      this.#clock.after(visibilityMs, `queue ${this.name} dead letter`, () => {
        this.deadLetters.push(message);
        this.#finish(message);
      });
      return;
    }
    const again = { ...message, receiveCount: message.receiveCount + 1 };
    if (message.group === undefined) {
      this.#deliver(again, visibilityMs);
      return;
    }
    // A FIFO group is blocked until its first message is visible again, so that no message overtakes it.
    this.#clock.after(visibilityMs, `queue ${this.name} visible again`, () => {
      const group = this.#groups.get(message.group ?? "");
      if (group) group.busy = false;
      this.#deliver(again, 0);
    });
  }

  #finish(message: Message): void {
    this.#depth--;
    const group = message.group === undefined ? undefined : this.#groups.get(message.group);
    if (!group) return;
    group.busy = false;
    const next = group.waiting.shift();
    if (next) this.#deliver(next, 0);
  }
}

/** An SQS queue of the world, with a Lambda function behind it. */
export const simulatedQueue = (world: LabWorld, options: QueueOptions): Queue => new SimulatedQueue(world, options);
