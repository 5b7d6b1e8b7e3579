import type { SQSEvent, SQSRecord } from "aws-lambda";
import { describe, expect, it } from "vitest";
import { parseWakeUp, wakeUpBody } from "#adapters/aws/wake-up-queue.ts";
import { memoryMetrics } from "#adapters/telemetry/metrics.ts";
import type { WakeUp, WakeUps } from "#core/ports/wake-ups.ts";
import { noAnnouncements } from "#functions/shared/announce.ts";
import type { ClusterDeps } from "#functions/shared/cluster-deps.ts";
import { type Entry, entry, SWEEP_MS } from "#functions/shared/cluster-entry.ts";
import type { Message } from "#lab/world/message.ts";
import { simulatedWakeUps, visibilityIn } from "#lab/world/queues.ts";
import { createLabWorld } from "#lab/world/world.ts";
import { recordingLog, recordingWakeUps } from "../../support/fakes.ts";

const TIMEOUT_MS = 60_000;
const HUNG = "hung";
const CLUSTERS = [HUNG, ...Array.from({ length: 19 }, (_, i) => `c${i}`)];
const OTHERS = CLUSTERS.filter((name) => name !== HUNG);

const sweepMessage = (cluster: string): WakeUp => ({ kind: "sweep", cluster });
const planMessage = (cluster: string): WakeUp => ({ kind: "provision", cluster, cause: "Sweep" });

interface Stack {
  readonly clusters?: readonly string[];
  readonly inOrder?: boolean;
  readonly wake?: WakeUps;
  /** How many passes fail at first. */
  readonly failures?: number;
}

/** A stack on a virtual clock. The API server of the cluster "hung" never answers, those of the others within 1 s. */
function stack({ clusters = CLUSTERS, inOrder = false, wake, failures = 0 }: Stack = {}) {
  const world = createLabWorld({ seed: 1, start: 0 });
  const { clock } = world;
  const queues = simulatedWakeUps(world, 10);
  const log = recordingLog();
  const swept: string[] = [];
  let busy = 0;
  let peak = 0;
  const began: number[] = [];
  const visit = async ({ cluster }: ClusterDeps, how = ""): Promise<void> => {
    began.push(clock.now());
    if (began.length <= failures) throw new Error("the API server is away");
    peak = Math.max(peak, ++busy);
    await clock.sleep(cluster.name === HUNG ? 10 * TIMEOUT_MS : 1_000);
    busy--;
    swept.push(`${how}${cluster.name}`);
  };
  const parts: Entry<ClusterDeps> = {
    controller: "test",
    onWakeUp: (_, deps) => visit(deps, "woken "),
    onSweep: (deps) => visit(deps),
    sweepOf: sweepMessage,
  };
  const handle = entry(inOrder ? { ...parts, sweepOf: planMessage, inOrder } : parts, {
    clusters: async () => clusters,
    clusterDeps: async (name) =>
      ({ cluster: { name }, announcements: noAnnouncements, log, metrics: memoryMetrics(), now: clock.now }) as unknown as ClusterDeps,
    wakeUps: wake ?? queues,
    later: (ms, work) => {
      const timer = clock.after(ms, "timer", work);
      return () => timer.cancel();
    },
    log,
    changeVisibility: visibilityIn(inOrder ? queues.provision : queues.claims),
  });
  const invoke = (event: SQSEvent | { readonly kind: string }) => {
    const end = clock.now() + TIMEOUT_MS;
    return handle(event, { getRemainingTimeInMillis: () => end - clock.now() });
  };
  const queue = inOrder ? queues.provision : queues.claims;
  queue.subscribeBatches(async (messages) => {
    const answer = await invoke(batchOf(messages.map((message) => ({ ...message, group: message.group ?? "" }))));
    return new Set(answer?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  });
  // The lifecycle passes on what waits in its queue for the planner.
  if (inOrder)
    queues.claims.subscribe(async ({ body }) => {
      await queues.wake([parseWakeUp(body)]);
    });
  const schedule = () => clock.after(0, "schedule", async () => void (await invoke({ kind: "sweep" })));
  return { clock, queue, queues, log, swept, began, invoke, schedule, peak: () => peak };
}

const batchOf = (messages: readonly (Pick<Message, "id" | "body"> & Partial<Message> & { readonly group: string })[]): SQSEvent => ({
  Records: messages.map(({ id, body, group, receiveCount = 1 }) => {
    const attributes = { ApproximateReceiveCount: String(receiveCount), MessageGroupId: group };
    return { messageId: id, body, attributes, eventSource: "aws:sqs" } as unknown as SQSRecord;
  }),
});

describe("the sweep of a stack of several clusters", () => {
  it.for([{ inOrder: false }, { inOrder: true }])(
    "reaches nineteen clusters while a twentieth never answers, in order: $inOrder",
    async ({ inOrder }) => {
      const { clock, swept, schedule, queue, log } = stack({ inOrder });
      schedule();
      await clock.run({ until: SWEEP_MS + TIMEOUT_MS });
      expect(swept.sort()).toEqual([...OTHERS].sort());
      // Nothing returns for the cluster that hangs: the next sweep looks again.
      expect([queue.failures, queue.depth(), log.errors]).toEqual([[], 0, ["the scheduled pass failed; the next one tries again"]]);
    },
  );

  it("begins for the others within its period, not when the cluster that hangs is given up", async () => {
    const { clock, swept, schedule } = stack();
    schedule();
    await clock.run({ until: SWEEP_MS + 2_000 });
    expect(swept).toHaveLength(OTHERS.length);
  });

  it.for([{ inOrder: false }, { inOrder: true }])(
    "needs an invocation or two at a time, however many clusters there are, in order: $inOrder",
    async ({ inOrder }) => {
      const { clock, swept, schedule, peak } = stack({ clusters: OTHERS, inOrder });
      schedule();
      await clock.run({ until: 2 * SWEEP_MS });
      expect(swept).toHaveLength(OTHERS.length);
      expect(peak()).toBeLessThanOrEqual(2);
    },
  );

  it("comes to each cluster at the same moment of each period, whatever order the clusters are listed in", async () => {
    const { sent, ...wake } = recordingWakeUps();
    for (const clusters of [CLUSTERS, [...CLUSTERS].reverse()]) await stack({ clusters, wake }).invoke({ kind: "sweep" });
    const [first, second] = [sent.slice(0, CLUSTERS.length), sent.slice(CLUSTERS.length)];
    expect(second).toEqual(first);
    const delays = first.map((wakeUp) => ("delayMs" in wakeUp ? wakeUp.delayMs : undefined));
    expect(new Set(delays).size).toBe(CLUSTERS.length);
    expect(Math.max(...delays.map((ms) => ms ?? Number.NaN))).toBeLessThan(SWEEP_MS);
  });

  it("passes a sweep of another function on to its queue, and does not sweep itself", async () => {
    const { clock, swept, invoke } = stack();
    clock.after(0, "message", async () => {
      await invoke(batchOf([{ id: "m1", body: wakeUpBody(planMessage("c0")), group: "c0" }]));
    });
    await clock.run();
    // Of this stack's function each wake-up that is no sweep of its own is visited.
    expect(swept).toEqual(["woken c0"]);
  });

  it("is made up for by the next when the function ends between two messages", async () => {
    const { sent, ...recording } = recordingWakeUps();
    let room = 7;
    const wake: WakeUps["wake"] = async (wakeUps) => {
      await recording.wake(wakeUps.slice(0, room));
      if (room < wakeUps.length) throw new Error("the queue refused a wake-up");
    };
    const { invoke, log } = stack({ wake: { wake } });
    await invoke({ kind: "sweep" });
    expect([new Set(sent.map(({ cluster }) => cluster)).size, log.errors]).toEqual([
      7,
      ["not every cluster could be woken for the sweep; the next one tries again"],
    ]);
    room = CLUSTERS.length;
    await invoke({ kind: "sweep" });
    expect(new Set(sent.map(({ cluster }) => cluster))).toEqual(new Set(CLUSTERS));
  });

  it("needs no message when there is one cluster", async () => {
    const wake = recordingWakeUps();
    const { clock, swept, schedule } = stack({ clusters: ["c0"], wake });
    schedule();
    await clock.run();
    expect([swept, wake.sent]).toEqual([["c0"], []]);
  });
});

describe("a batch of wake-ups of several clusters", () => {
  const wakeUps = ["c0", HUNG, "c1"].map((cluster): WakeUp => ({ kind: "provision", cluster, cause: "PodsComing" }));
  const messages = wakeUps.map((wakeUp) => ({ id: wakeUp.cluster, body: wakeUpBody(wakeUp), group: wakeUp.cluster }));

  it.for([
    { inOrder: false, wanted: [HUNG, "again"] },
    // A FIFO queue gets back none: the wake-ups are sent again.
    { inOrder: true, wanted: [] },
  ])("returns only the messages of the cluster that hangs, in order: $inOrder", async ({ inOrder, wanted }) => {
    const { clock, swept, invoke } = stack({ inOrder });
    let returned: readonly string[] | undefined;
    clock.after(0, "batch", async () => {
      const second = { id: "again", body: messages[1]?.body ?? "", group: HUNG };
      const answer = await invoke(batchOf([...messages, second]));
      returned = answer?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
    });
    await clock.run({ until: TIMEOUT_MS });
    expect([swept.sort(), returned]).toEqual([["woken c0", "woken c1"], wanted]);
  });
});

describe("a failure", () => {
  const PODS_COMING: WakeUp = { kind: "provision", cluster: "c0", cause: "PodsComing" };

  /** A stack of one cluster on a virtual clock, whose first so many passes fail; at which seconds passes begin. */
  function failing(times: number, inOrder: boolean, wake?: WakeUps) {
    const made = stack({ clusters: ["c0"], inOrder, failures: times, ...(wake && { wake }) });
    const { clock, queues } = made;
    clock.after(0, "signal", () => queues.wake([inOrder ? PODS_COMING : { kind: "claim", cluster: "c0", claim: "x" }]));
    return made;
  }

  it.for([{ inOrder: false }, { inOrder: true }])(
    "is followed by attempts after 2, 4, 8, 16, 30 s, in order: $inOrder",
    async ({ inOrder }) => {
      const { clock, began, queue } = failing(5, inOrder);
      await clock.run();
      expect(began.slice(1).map((at, i) => Math.round((at - (began[i] ?? Number.NaN)) / 1_000))).toEqual([2, 4, 8, 16, 30]);
      expect([queue.depth(), queue.deadLetters.length]).toEqual([0, 0]);
    },
  );

  it("keeps no other wake-up of the cluster waiting in a FIFO queue", async () => {
    const { clock, began, queues } = failing(4, true);
    clock.after(20_000, "signal", () => queues.wake([PODS_COMING]));
    await clock.run();
    expect(began.map((at) => Math.round(at / 1_000))).toContain(21);
  });

  it.for([{ inOrder: false }, { inOrder: true }])(
    "of every attempt leaves a dead letter within ten minutes, in order: $inOrder",
    async ({ inOrder }) => {
      const { clock, queue } = failing(Number.POSITIVE_INFINITY, inOrder);
      await clock.run();
      expect(queue.deadLetters).toHaveLength(1);
      expect(clock.now()).toBeLessThan(10 * 60_000);
    },
  );

  it("of a sweep is followed by attempts within its minute, and by no dead letter", async () => {
    const { clock, schedule, began, log, queue } = stack({ clusters: ["c0"], inOrder: true, failures: Number.POSITIVE_INFINITY });
    schedule();
    await clock.run();
    expect(began.map((at) => Math.round(at / 1_000))).toEqual([0, 2, 6, 14, 30]);
    expect(log.errors.at(-1)).toBe("the scheduled pass failed; the next one tries again");
    expect(queue.deadLetters).toEqual([]);
  });
});
