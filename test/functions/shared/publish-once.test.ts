import { expect, it } from "vitest";
import type { PublishedEvent } from "#core/ports/kubernetes.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { publishOnce } from "#functions/shared/publish-once.ts";

const MINUTE_MS = 60_000;

const EVENT: PublishedEvent = {
  type: "Normal",
  reason: "Unconsolidatable",
  message: "Can't replace with a cheaper node",
  about: { kind: "Node", metadata: { name: "node-1", uid: "1" } },
};

/** A table that several processes share, and the events that came through. */
function table() {
  const seen = new Map<string, number>();
  const published: number[] = [];
  let asked = 0;
  let clock = 0;
  const store = {
    isFirstWithin: async (_cluster: string, key: string, now: number, ttlMs: number) => {
      asked++;
      if ((seen.get(key) ?? 0) > now) return false;
      seen.set(key, now + ttlMs);
      return true;
    },
  };
  /** A process of its own: what it remembers hangs on its facts of the cluster. */
  const open = () => {
    const deps = {
      cluster: { name: "c" },
      memory: new ProcessMemory(),
      store,
      now: () => clock,
      kubernetes: { publish: async () => void published.push(clock) },
    };
    return (at: number) => {
      clock = at;
      return publishOnce(EVENT, deps as never, 15 * MINUTE_MS);
    };
  };
  return { published, open, asked: () => asked };
}

it("an event is published once in its window, and the store is asked once for that", async () => {
  const { published, open, asked } = table();
  const tell = open();
  for (let minute = 0; minute < 31; minute++) await tell(minute * MINUTE_MS);
  expect(published.map((at) => at / MINUTE_MS)).toEqual([0, 15, 30]);
  expect(asked()).toBe(3);
});

it("an event that another process has published is not repeated until soon after its window", async () => {
  const { published, open, asked } = table();
  const [first, second] = [open(), open()];
  await first(0);
  for (let minute = 1; minute <= 20; minute++) await second(minute * MINUTE_MS);
  expect(published.map((at) => at / MINUTE_MS)).toEqual([0, 17]);
  expect(asked()).toBe(6);
});

it("an event whose message is longer than a key of DynamoDB is told once, under a key that fits", async () => {
  const keys: string[] = [];
  const published: string[] = [];
  const deps = {
    cluster: { name: "c" },
    memory: new ProcessMemory(),
    store: { isFirstWithin: async (_cluster: string, key: string) => !keys.includes(key) && keys.push(key) > 0 },
    now: () => 0,
    kubernetes: { publish: async ({ message }: PublishedEvent) => void published.push(message) },
  };
  const messages = ["a".repeat(5_000), `${"a".repeat(5_000)}b`];
  for (const message of [...messages, ...messages]) {
    await publishOnce({ ...EVENT, message }, { ...deps, cluster: { name: "c" }, memory: new ProcessMemory() } as never, MINUTE_MS);
  }
  expect(published).toEqual(messages);
  expect(keys.every((key) => Buffer.byteLength(key) <= 1_024)).toBe(true);
});
