import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type RequestPace, readRequestPace } from "#core/model/request-pace.ts";
import { aheadOf, bucketOf } from "#core/request-pace/buckets.ts";
import { draw, slowed, untouched } from "#core/request-pace/draw.ts";

const NOW = 1_790_000_000_000;
const FLEET = bucketOf("CreateFleet");
/** Nine tenths of 50 and of 5 a second. */
const FULL = 45;
const RATE = 4.5;

const pace = (fields: Partial<RequestPace> = {}): RequestPace => ({ ...untouched(FLEET, NOW), ...fields });
const drawn = (state: RequestPace, calls: number, fields: object = {}) =>
  draw(state, FLEET, { now: NOW, calls, maxWaitMs: 2_000, ...fields });

describe("buckets", () => {
  it.for([
    { action: "CreateFleet", burst: 50, perSecond: 5, ahead: 0 },
    { action: "CreateLaunchTemplate", burst: 50, perSecond: 5, ahead: 0 },
    { action: "DescribeInstances", burst: 100, perSecond: 20, ahead: 5 },
    { action: "TerminateInstances", burst: 100, perSecond: 5, ahead: 0 },
    { action: "CreateTags", burst: 100, perSecond: 10, ahead: 0 },
    { action: "constructor", burst: 50, perSecond: 5, ahead: 0 },
  ])("$action has EC2's documented bucket", ({ action, burst, perSecond, ahead }) => {
    expect([bucketOf(action), aheadOf(action)]).toEqual([{ burst, perSecond }, ahead]);
  });
});

describe("draw", () => {
  it("a full bucket gives its burst at once, then one call each turn, and sends the rest away", () => {
    const { waitsMs, awayMs, next } = drawn(pace(), 60);
    expect(waitsMs.filter((ms) => ms === 0)).toHaveLength(FULL);
    // Within two seconds nine more calls come true.
    expect(waitsMs.slice(FULL).map((ms) => Math.round((ms * RATE) / 1_000))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(awayMs).toHaveLength(6);
    expect(awayMs[0]).toBeCloseTo((10 / RATE) * 1_000, -1);
    expect(awayMs[5]).toBeCloseTo(((10 + 5) / RATE) * 1_000, -1);
    expect(next.tokens).toBe(FULL - 54);
  });

  it("those that are sent away later are told later times", () => {
    const first = drawn(pace(), 60);
    const second = drawn(first.next, 3);
    expect(second.waitsMs).toEqual([]);
    expect(second.awayMs[0]).toBeGreaterThan(first.awayMs.at(-1) ?? 0);
  });

  it("the times of a long queue end after five minutes", () => {
    const { awayMs, next } = drawn(pace(), 3_000);
    expect(Math.max(...awayMs)).toBe(300_000);
    expect(next.toldUntil).toBe(NOW + 300_000);
    expect(Math.max(...drawn(next, 5).awayMs)).toBe(300_000);
  });

  it("time fills the bucket, and not above its size", () => {
    const empty = pace({ tokens: 0 });
    expect(drawn(empty, 5, { now: NOW + 1_000, maxWaitMs: 0 }).waitsMs).toEqual([0, 0, 0, 0]);
    expect(drawn(empty, 100, { now: NOW + 3_600_000, maxWaitMs: 0 }).waitsMs).toHaveLength(FULL);
  });

  it("calls ahead of their need are drawn from a bucket that is half full only", () => {
    const ask = (tokens: number) => drawn(pace({ tokens }), 1, { ahead: 10 }).ahead;
    expect([45, 30, 24, 20, -5].map(ask)).toEqual([10, 6, 0, 0, 0]);
  });

  it("calls that nobody waits for leave half of the bucket to the others", () => {
    const { waitsMs } = drawn(pace(), 100, { isBackground: true, maxWaitMs: 0 });
    expect(waitsMs).toHaveLength(22);
    expect(drawn(pace({ tokens: 22 }), 1, { isBackground: true, maxWaitMs: 0 }).awayMs).toHaveLength(1);
    expect(drawn(pace({ tokens: 22 }), 1, { maxWaitMs: 0 }).waitsMs).toEqual([0]);
  });

  it("a time that a wrong clock has written is not waited for", () => {
    const ahead = pace({ tokens: 3, countedAt: NOW + 86_400_000, toldUntil: NOW + 86_400_000 });
    const { next, awayMs } = drawn(ahead, 20);
    expect(next.countedAt).toBe(NOW);
    expect(awayMs[0]).toBeLessThan(5_000);
    expect(drawn({ ...next, tokens: 0 }, 4, { now: NOW + 1_000, maxWaitMs: 0 }).waitsMs).toHaveLength(4);
  });

  it("a damaged state is a bucket that fills", () => {
    const damaged = readRequestPace({ version: 7, tokens: "many", countedAt: null, share: Number.NaN, sharedAt: [] });
    expect(damaged).toMatchObject({ version: 7 });
    expect(drawn(damaged as RequestPace, 100, { maxWaitMs: 0 }).waitsMs).toHaveLength(FULL);
    for (const tokens of [-1e300, 1e300, Number.MIN_SAFE_INTEGER])
      expect(drawn(pace({ tokens }), 1, { now: NOW + 60_000, maxWaitMs: 0 }).waitsMs, String(tokens)).toHaveLength(1);
    expect(readRequestPace(undefined)).toBeUndefined();
    expect(readRequestPace({ version: "1" })).toBeUndefined();
  });
});

describe("slowed", () => {
  const rateAt = (state: RequestPace, now: number) =>
    1_000 / ((draw({ ...state, tokens: 0, countedAt: now }, FLEET, { now, calls: 1, maxWaitMs: 0 }).awayMs[0] ?? 0) || 1);

  it("a throttle empties the bucket and halves the rate for all; it grows back", () => {
    const slow = slowed(pace(), FLEET, NOW) as RequestPace;
    expect(drawn(slow, 1, { maxWaitMs: 0 }).waitsMs).toEqual([]);
    expect(rateAt(slow, NOW)).toBeCloseTo(RATE / 2, 1);
    expect(rateAt(slow, NOW + 10_000)).toBeCloseTo(RATE / 2 + 1, 1);
    expect(rateAt(slow, NOW + 60_000)).toBeCloseTo(RATE, 1);
  });

  it("throttles of one moment slow down once, and many throttles leave a turn every four seconds", () => {
    const slow = slowed(pace(), FLEET, NOW) as RequestPace;
    expect(slowed(slow, FLEET, NOW + 1_500)).toBeUndefined();
    expect(rateAt(slowed(slow, FLEET, NOW + 2_000) as RequestPace, NOW + 2_000)).toBeCloseTo((RATE / 2 + 0.2) / 2, 1);
    let state: RequestPace = slow;
    for (let at = NOW; at < NOW + 600_000; at += 2_000) state = slowed(state, FLEET, at) ?? state;
    expect(rateAt(state, NOW + 600_000)).toBeGreaterThanOrEqual(0.25);
  });

  it("a throttle is told although a wrong clock has written the last one", () => {
    expect(slowed(pace({ sharedAt: NOW + 86_400_000 }), FLEET, NOW)).toMatchObject({ sharedAt: NOW });
  });
});

describe("the law of the pace", () => {
  const LEADS = [-3_000, -200, 0, 150, 4_000];
  const step = fc.record({
    after: fc.integer({ min: 0, max: 3_000 }),
    who: fc.nat({ max: LEADS.length - 1 }),
    calls: fc.integer({ min: 1, max: 30 }),
    ahead: fc.integer({ min: 0, max: 10 }),
  });

  it("whoever draws, with whatever clock, no more calls are made than the bucket and its time give", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 80 }), (steps) => {
        let state = pace();
        let now = NOW;
        const made: number[] = [];
        for (const { after, who, calls, ahead } of steps) {
          now += after;
          const {
            next,
            waitsMs,
            awayMs,
            ahead: held,
          } = draw(state, FLEET, { now: now + (LEADS[who] ?? 0), calls, ahead, maxWaitMs: 2_000 });
          expect(waitsMs.length + awayMs.length).toBe(calls);
          for (const ms of [...waitsMs, ...Array.from({ length: held }, () => 0)]) made.push(now + ms);
          state = next;
        }
        made.sort((a, b) => a - b);
        // A clock that runs ahead gives its lead, and the distance to the slowest, once.
        const lead = (7_000 / 1_000) * RATE;
        for (const [i, at] of made.entries()) expect(i + 1).toBeLessThanOrEqual(FULL + lead + ((at - NOW) / 1_000) * RATE + 1);
      }),
    );
  });
});
