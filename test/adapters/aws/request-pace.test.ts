import { describe, expect, it } from "vitest";
import { type RequestPacer, sharedRequestPace } from "#adapters/aws/request-pace.ts";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import { type LogRecord, memoryLog } from "#adapters/telemetry/log.ts";
import { ThrottledError } from "#core/ports/errors.ts";
import { virtualClock } from "#lab/world/clock.ts";
import { ec2Requests } from "#lab/world/ec2-requests.ts";
import { seeded } from "#lab/world/random.ts";

const START = 1_790_000_000_000;
type Swap = Parameters<typeof sharedRequestPace>[0]["store"]["swapPace"];

/** A table, EC2 with its buckets, and functions that know of each other by the table alone. */
function stage({ swap }: { readonly swap?: (real: Swap) => Swap } = {}) {
  const clock = virtualClock(START);
  const table = embeddedNodeClaimStore();
  let writes = 0;
  const counted: Swap = (bucket, pace) => {
    writes += 1;
    return table.swapPace(bucket, pace);
  };
  const store = { swapPace: swap === undefined ? counted : swap(counted) };
  const ec2 = ec2Requests(clock, seeded(1));
  const waits: number[] = [];
  const lines: LogRecord[] = [];
  const log = memoryLog((line) => void lines.push(line));
  const newFunction = (fields: { readonly skewMs?: number; readonly isBackground?: boolean } = {}): RequestPacer =>
    sharedRequestPace({
      ...{ store, log, account: "own/us-west-2", isBackground: fields.isBackground ?? false },
      ...{ now: () => clock.now() + (fields.skewMs ?? 0), sleep: clock.sleep, onWait: (_, ms) => void waits.push(ms) },
    });
  /** Makes a request as often as it takes; a function that is put off comes again when it was told to. */
  const made = async (pace: RequestPacer, action: string): Promise<void> => {
    for (;;) {
      try {
        return await ec2.make(action, { pace, made: new Map() });
      } catch (error) {
        if (!(error instanceof ThrottledError) || error.retryAfterMs === undefined) throw error;
        await clock.sleep(Math.ceil(error.retryAfterMs / 1_000) * 1_000);
      }
    }
  };
  const run = async (work: () => Promise<unknown>): Promise<number> => {
    let ended = false;
    clock.after(0, "work", async () => {
      await work();
      ended = true;
    });
    await clock.run({ until: () => ended, latest: START + 3_600_000 });
    return (clock.now() - START) / 1_000;
  };
  return { clock, table, ec2, newFunction, made, run, waits, lines, writes: () => writes };
}

const ALONE = "the pace of requests to EC2 cannot be shared; this function continues at a tenth of it";

const all = (count: number, work: (i: number) => Promise<unknown>) => Promise.all(Array.from({ length: count }, (_, i) => work(i)));

describe("sharedRequestPace", () => {
  it.for([
    { name: "clocks that agree", skewOf: () => 0 },
    { name: "clocks that differ by a second and more", skewOf: (i: number) => (i % 5) * 400 - 800 },
  ])("twenty functions with $name launch 400 machines without a throttle, at nine tenths of EC2's rate", async ({ skewOf }) => {
    const { ec2, newFunction, made, run } = stage();
    const seconds = await run(() =>
      all(20, async (i) => {
        const pace = newFunction({ skewMs: skewOf(i) });
        await all(20, () => made(pace, "CreateFleet"));
      }),
    );
    expect(ec2.counts.get("CreateFleet")).toMatchObject({ passed: 400, throttled: 0 });
    // (400 - 45) / 4.5 = 79 s, and the queue counts in seconds.
    expect(seconds).toBeGreaterThanOrEqual(75);
    expect(seconds).toBeLessThanOrEqual(95);
  });

  it("two hundred functions without it would be throttled", async () => {
    const { ec2, made, run } = stage();
    const none: RequestPacer = { turn: async () => undefined, throttled: async () => undefined };
    await run(() => all(200, () => made(none, "CreateFleet")));
    expect(ec2.counts.get("CreateFleet")?.throttled).toBeGreaterThan(200);
  });

  it("while somebody else uses up the bucket, few requests are throttled, and all are made in the end", async () => {
    const { clock, ec2, newFunction, made, run } = stage();
    const other = clock.every(400, "another tool of the account", () => ec2.make("CreateFleet", undefined).catch(() => undefined));
    await run(() => all(10, (i) => all(10, () => made(newFunction({ skewMs: i }), "CreateFleet"))));
    other.cancel();
    const { passed = 0, throttled = 0 } = ec2.counts.get("CreateFleet") ?? {};
    expect(passed).toBeGreaterThanOrEqual(100);
    expect(throttled).toBeLessThan(passed);
  });

  it("looks of a quiet stack are drawn six at a time, and each launch asks the table once", async () => {
    const { clock, newFunction, run, writes } = stage();
    const pace = newFunction();
    await run(async () => {
      for (let i = 0; i < 10; i++) {
        await pace.turn("DescribeInstances");
        await clock.sleep(60_000);
      }
      expect(writes()).toBe(2);
      // What is not used within five minutes is given up.
      await clock.sleep(300_000);
      await pace.turn("DescribeInstances");
      expect(writes()).toBe(3);
      await pace.turn("CreateFleet");
      await pace.turn("TerminateInstances");
      expect(writes()).toBe(5);
    });
  });

  it("a wait of more than two seconds is no wait: the caller is told when to come again", async () => {
    const { newFunction, run, waits } = stage();
    const pace = newFunction();
    await run(async () => {
      const answers = await Promise.allSettled(Array.from({ length: 60 }, () => pace.turn("CreateFleet")));
      const away = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason as ThrottledError] : []));
      expect(away.map(({ name }) => name)).toEqual(Array.from({ length: 6 }, () => "ThrottledError"));
      expect(away.every(({ retryAfterMs = 0 }) => retryAfterMs > 2_000)).toBe(true);
      // Other actions have buckets of their own.
      await pace.turn("TerminateInstances");
      await pace.turn("DescribeInstances");
    });
    expect(waits.filter((ms) => ms > 2_001)).toHaveLength(6);
  });

  it("a function that ends with its draws costs the others time, and nothing else", async () => {
    const { clock, newFunction, made, run, ec2 } = stage();
    const seconds = await run(async () => {
      await all(40, () => newFunction().turn("CreateFleet"));
      await all(20, () => made(newFunction(), "CreateFleet"));
      expect(clock.now() - START).toBeGreaterThan(2_000);
    });
    expect(seconds).toBeLessThan(6);
    expect(ec2.counts.get("CreateFleet")).toMatchObject({ passed: 20, throttled: 0 });
  });

  it.for([
    { name: "does not answer", fail: () => Promise.reject(new Error("timeout")) },
    { name: "is throttled", fail: () => Promise.reject(new ThrottledError("DynamoDB throttles requests")) },
  ])("while the table $name, each function keeps a tenth of the bucket, and asks the table again after ten seconds", async ({ fail }) => {
    let isDown = true;
    let asked = 0;
    const { clock, newFunction, run, lines } = stage({
      swap: (real) => (bucket, state) => {
        asked += 1;
        return isDown ? fail() : real(bucket, state);
      },
    });
    const pace = newFunction();
    await run(async () => {
      await all(4, () => pace.turn("CreateFleet"));
      expect(asked).toBe(1);
      await expect(all(5, () => pace.turn("CreateFleet"))).rejects.toThrow(/come|may be made/);
      await pace.turn("DescribeInstances");
      // One line at the beginning, not one for each request and action, and one at the end.
      expect(lines.map(({ level, message }) => [level, message])).toEqual([["error", ALONE]]);
      isDown = false;
      await clock.sleep(10_001);
      await all(20, () => pace.turn("CreateFleet"));
      await pace.turn("DescribeInstances");
      expect(asked).toBeLessThanOrEqual(6);
      expect(lines.slice(1)).toMatchObject([
        { level: "info", message: "the pace of requests to EC2 is shared again", fields: { account: "own/us-west-2", seconds: 10 } },
      ]);
    });
  });

  it("a function that others are always faster than goes on alone", async () => {
    const { newFunction, run, table } = stage({
      swap: (real) => async (bucket, state) => {
        const standing = await table.swapPace(bucket, { ...state, version: 0 });
        return standing === undefined || standing === "nothing"
          ? { ...state, version: state.version + 7 }
          : real(bucket, { ...state, version: -1 });
      },
    });
    await run(() => newFunction().turn("CreateFleet"));
  });

  it("background looks leave half of the bucket to the lifecycle", async () => {
    const { newFunction, run } = stage();
    await run(async () => {
      const catalog = newFunction({ isBackground: true });
      const answers = await Promise.allSettled(Array.from({ length: 120 }, () => catalog.turn("DescribeInstances")));
      expect(answers.filter(({ status }) => status === "rejected").length).toBeGreaterThan(0);
      await all(40, () => newFunction().turn("DescribeInstances"));
    });
  });
});
