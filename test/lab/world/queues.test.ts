import { describe, expect, it } from "vitest";
import { QUEUES } from "#infra/functions.ts";
import { withIntercept } from "#lab/world/intercept.ts";
import { invoke } from "#lab/world/invocation.ts";
import { simulatedQueue } from "#lab/world/queue.ts";
import { STACK_QUEUES, simulatedWakeUps } from "#lab/world/queues.ts";
import { createLabWorld } from "#lab/world/world.ts";
import { START } from "./support.ts";

const world = () => createLabWorld({ seed: 1, start: START });

it("the lab's queues have the settings of the stack's queues", () => {
  const deployed = Object.entries(QUEUES).map(([name, { fifo, delaySeconds, retentionSeconds, visibilitySeconds, maxReceives }]) => {
    const ms = { delayMs: delaySeconds * 1_000, retentionMs: retentionSeconds * 1_000, visibilityMs: visibilitySeconds * 1_000 };
    return [name, { fifo, ...ms, maxReceives }];
  });
  expect(STACK_QUEUES).toEqual(Object.fromEntries(deployed));
});

describe("simulated queue", () => {
  it("delivers after its delay, and again after the visibility timeout as long as the handler fails", async () => {
    const w = world();
    const queue = simulatedQueue(w, { name: "q", delayMs: 1_000, visibilityMs: 30_000, maxReceives: 3 });
    const seen: number[] = [];
    queue.subscribe(async ({ body, receiveCount }) => {
      seen.push(w.clock.now() - START);
      if (body === "bad" || receiveCount === 1) throw new Error("no");
    });
    queue.send("good");
    await w.clock.run();
    expect(seen).toEqual([1_000, 31_000]);
    expect([queue.depth(), queue.deadLetters.length]).toEqual([0, 0]);
    queue.send("bad", { delayMs: 5_000 });
    await w.clock.run();
    expect(seen.slice(2)).toEqual([36_000, 66_000, 96_000]);
    expect(queue.deadLetters.map((m) => [m.body, m.receiveCount])).toEqual([["bad", 3]]);
    expect(queue.failures).toHaveLength(4);
  });

  it("keeps a FIFO group shut until its dead letter has been moved", async () => {
    const w = world();
    const queue = simulatedQueue(w, { name: "q.fifo", fifo: true, visibilityMs: 10_000, maxReceives: 2 });
    const seen: (readonly [string, number])[] = [];
    queue.subscribe(async ({ body }) => {
      seen.push([body, w.clock.now() - START]);
      if (body === "bad") throw new Error("no");
    });
    for (const body of ["bad", "next"]) queue.send(body, { group: "a", dedupId: body });
    await w.clock.run();
    expect(seen).toEqual([
      ["bad", 0],
      ["bad", 10_000],
      ["next", 20_000],
    ]);
    expect(queue.deadLetters.map(({ body }) => body)).toEqual(["bad"]);
  });

  it("drops what is older than its retention", async () => {
    const w = world();
    const queue = simulatedQueue(w, { name: "q", visibilityMs: 120_000, retentionMs: 300_000 });
    queue.subscribe(async () => {
      throw new Error("no");
    });
    queue.send("notice");
    await w.clock.run();
    expect(queue.delivered()).toBe(3);
  });

  it("starts no more invocations at once than it may, begins with five, and reads the messages of quiet senders first", async () => {
    const w = world();
    const queue = simulatedQueue(w, { name: "q", batchSize: 2, maxConcurrency: 7 });
    let running = 0;
    const most: number[] = [];
    const seen: string[] = [];
    queue.subscribeBatches(async (messages) => {
      seen.push(...messages.map(({ body }) => body));
      most.push(++running);
      await w.clock.sleep(30_000);
      running--;
      return new Set();
    });
    for (let i = 0; i < 40; i++) queue.send("noisy", { sender: "noisy" });
    await w.clock.run({ until: START + 500 });
    queue.send("quiet", { sender: "quiet" });
    expect(Math.max(...most)).toBe(5);
    await w.clock.run({ until: START + 20_000 });
    expect([Math.max(...most), seen.indexOf("quiet") < 14]).toEqual([7, true]);
    await w.clock.run();
    expect([Math.max(...most), seen.length, queue.depth()]).toEqual([7, 41, 0]);
  });

  it("delivers the message of a killed invocation again, although its code never ends", async () => {
    const w = world();
    const queue = simulatedQueue(w, { name: "q", visibilityMs: 30_000 });
    const port = withIntercept(
      { write: async () => {} },
      "port",
      { before: ({ invocation }) => (invocation?.id === "f-1" ? "kill" : undefined) },
      w.clock,
    );
    const done: number[] = [];
    let runs = 0;
    queue.subscribe(() =>
      invoke(`f-${++runs}`, "f", async () => {
        await port.write();
        done.push(w.clock.now() - START);
      }),
    );
    queue.send("m");
    await w.clock.run();
    expect(done).toEqual([30_000]);
    expect(queue.failures.map((f) => (f.error as Error).name)).toEqual(["KilledError"]);
  });

  it("keeps a FIFO group in order, one message at a time, and drops duplicates", async () => {
    const w = world();
    const queue = simulatedQueue(w, { name: "q.fifo", fifo: true, visibilityMs: 10_000 });
    const seen: string[] = [];
    let running = 0;
    queue.subscribe(async ({ body, receiveCount }) => {
      expect(++running).toBe(1);
      await w.clock.sleep(500);
      running--;
      if (body === "a" && receiveCount === 1) throw new Error("no");
      seen.push(`${body}@${w.clock.now() - START}`);
    });
    for (const body of ["a", "b", "a", "c"]) queue.send(body, { group: "g" });
    await w.clock.run();
    expect(seen).toEqual(["a@11000", "b@11500", "c@12000"]);
    queue.send("a", { group: "g" });
    await w.clock.run({ until: START + 400_000 });
    expect(seen).toHaveLength(3);
    queue.send("a", { group: "g" });
    await w.clock.run();
    expect(seen).toHaveLength(4);
  });

  it("hands over up to so many messages at once, and delivers again only those that the handler gives back", async () => {
    const w = world();
    const queue = simulatedQueue(w, { name: "q", batchSize: 3, visibilityMs: 30_000 });
    const seen: string[] = [];
    queue.subscribeBatches(async (messages) => {
      seen.push(messages.map(({ body, receiveCount }) => `${body}${receiveCount}`).join(" "));
      return new Set(messages.flatMap(({ id, body, receiveCount }) => (body === "b" && receiveCount === 1 ? [id] : [])));
    });
    for (const body of ["a", "b", "c", "d"]) queue.send(body);
    await w.clock.run();
    expect(seen).toEqual(["a1 b1 c1", "d1", "b2"]);
    expect(queue.depth()).toBe(0);
  });

  it("loses, duplicates and delays messages as its faults say", async () => {
    const w = world();
    const queue = simulatedQueue(w, { name: "q" });
    queue.faults = { lose: (b) => b === "lost", duplicate: (b) => (b === "twice" ? 1 : 0), delay: (b) => (b === "late" ? 100 : 0) };
    const seen: string[] = [];
    queue.subscribe(async ({ body }) => {
      seen.push(body);
    });
    for (const body of ["late", "lost", "twice", "once"]) queue.send(body);
    await w.clock.run();
    expect(seen).toEqual(["twice", "twice", "once", "late"]);
  });
});

describe("wake-ups", () => {
  it("are deduplicated for provisioning and keep their delay for claims", async () => {
    const w = world();
    const wakeUps = simulatedWakeUps(w);
    const seen: string[] = [];
    for (const name of ["provision", "claims", "disruption", "catalog"] as const) {
      wakeUps[name].subscribe(async ({ body }) => {
        seen.push(`${w.clock.now() - START} ${name} ${JSON.parse(body).reason ?? JSON.parse(body).claim}`);
      });
    }
    await wakeUps.wake([
      { kind: "provision", cluster: "lab", cause: "NodePoolReady", detail: "first" },
      { kind: "provision", cluster: "lab", cause: "NodePoolReady", detail: "second" },
      { kind: "claim", cluster: "lab", claim: "c1", delayMs: 9_000 },
      { kind: "claim", cluster: "lab", claim: "c1", delayMs: 4_200 },
      { kind: "disruption", cluster: "lab", cause: "Due", delayMs: 2_000 },
      { kind: "catalog", cluster: "lab", cause: "ObjectChanged", detail: "it" },
    ]);
    await w.clock.run();
    expect(seen).toEqual(["0 catalog it changed", "1000 provision NodePool first is ready", "2000 disruption due", "5000 claims c1"]);
  });
});
