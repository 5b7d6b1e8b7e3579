import { describe, expect, it } from "vitest";
import { eventually, everyStep } from "../e2e/support/wait.ts";

const SHORT = { timeoutMs: 60, everyMs: 5 };

interface Steps {
  readonly "a pod in the audit log": number;
  readonly "a call in the call log": number;
}

describe("everyStep", () => {
  it("everyStep returns all steps after the last one, however late it is", async () => {
    let looks = 0;
    const look = () => ({ "a pod in the audit log": ++looks > 3 ? looks : undefined, "a call in the call log": 7 });
    expect(await everyStep<Steps>("the scale-up is written down", look, { everyMs: 1 })).toEqual({
      "a pod in the audit log": 4,
      "a call in the call log": 7,
    });
  });

  it("everyStep names the missing steps, and no other", async () => {
    const look = () => ({ "a pod in the audit log": undefined, "a call in the call log": 7 });
    await expect(everyStep<Steps>("the scale-up is written down", look, SHORT)).rejects.toThrow(
      "the scale-up is written down: not within 0.06 s (the last look failed: missing: a pod in the audit log)",
    );
  });

  it("everyStep accepts a step at time zero", async () => {
    expect(await everyStep<{ readonly first: number }>("it is there", () => ({ first: 0 }), SHORT)).toEqual({ first: 0 });
  });
});

describe("eventually", () => {
  it("eventually reports what the last check found", async () => {
    await expect(eventually("a node joins", () => false, SHORT)).rejects.toThrow(
      "a node joins: not within 0.06 s (the last look found false)",
    );
  });

  it("eventually continues after an error, and reports the last one", async () => {
    let looks = 0;
    const twice = () => {
      if (++looks < 3) throw new Error("connection refused");
      return "joined";
    };
    expect(await eventually("a node joins", twice, { everyMs: 1 })).toBe("joined");
    const never = () => Promise.reject(new Error(`look ${++looks}`));
    await expect(eventually("a node joins", never, SHORT)).rejects.toThrow(/not within 0.06 s \(the last look failed: look \d+\)/);
  });

  it("eventually does not wait for a check that never ends", async () => {
    const silent = () => new Promise<true>(() => {});
    await expect(eventually("an answer comes", silent, { ...SHORT, slowestLookMs: 20 })).rejects.toThrow(
      /an answer comes: not within 0.06 s \(the last look failed: it has not ended after 0\.0\d+ s\)/,
    );
  });
});
