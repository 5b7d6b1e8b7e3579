import { describe, expect, it } from "vitest";
import { clusterToken, fixedToken, secretToken } from "#adapters/lambda/path-token.ts";
import type { LogFields } from "#core/ports/log.ts";

const OLD = "0123456789abcdef-old";
const NEW = "0123456789abcdef-new";

function warm(secret: string | Error) {
  const state = { secret, now: 0, reads: 0 };
  const reasons: unknown[] = [];
  const isToken = secretToken({
    read: async () => {
      state.reads += 1;
      if (state.secret instanceof Error) throw state.secret;
      return state.secret;
    },
    log: { error: (_message: string, fields?: LogFields) => void reasons.push(fields?.["error"]) },
    now: () => state.now,
  });
  return { state, reasons, isToken };
}

it("a fixed token is told from any other text", async () => {
  expect([await fixedToken(OLD)(OLD), await fixedToken(OLD)(NEW), await fixedToken(OLD)("")]).toEqual([true, false, false]);
});

it("a token opens the path of its own cluster alone, and the secret of the stack none", async () => {
  const isToken = fixedToken(OLD);
  const own = clusterToken(OLD, "c1");
  expect(own).toMatch(/^[0-9a-f]{48}$/);
  expect([await isToken(own, "c1"), await isToken(own, "c2"), await isToken(OLD, "c2")]).toEqual([true, false, false]);
  expect(await isToken(clusterToken(NEW, "c1"), "c1")).toBe(false);
  expect([await isToken(OLD), await isToken(own)]).toEqual([true, false]);
});

describe("a token that a secret holds", () => {
  it("is read once for many calls, also for calls at the same moment", async () => {
    const { state, isToken } = warm(OLD);
    expect(await Promise.all([isToken(OLD), isToken(OLD), isToken(NEW)])).toEqual([true, true, false]);
    expect(await isToken(OLD)).toBe(true);
    expect(state.reads).toBe(1);
  });

  it("may change: a warm function takes the new one as soon as a call brings it, and the old one until then", async () => {
    const { state, isToken } = warm(OLD);
    await isToken(OLD);
    Object.assign(state, { secret: NEW, now: 60_000 });
    expect(await isToken(OLD)).toBe(true);
    expect(await isToken(NEW)).toBe(true);
    expect(await isToken(OLD)).toBe(false);
  });

  it("is not read again for each wrong call, because strangers may send as many as they like", async () => {
    const { state, isToken } = warm(OLD);
    await isToken(OLD);
    for (let i = 0; i < 100; i++) expect(await isToken(NEW)).toBe(false);
    expect(state.reads).toBe(1);
    state.now = 60_000;
    for (let i = 0; i < 100; i++) expect(await isToken(NEW)).toBe(false);
    expect(state.reads).toBe(2);
  });

  it("refuses every call while the secret cannot be read, says why in the log, and recovers by itself", async () => {
    const { state, reasons, isToken } = warm(new Error("403 not authorized"));
    expect(await isToken(OLD)).toBe(false);
    expect(reasons).toEqual(["403 not authorized"]);
    state.secret = OLD;
    expect(await isToken(OLD)).toBe(true);
  });

  it("stays what it was while the secret cannot be read", async () => {
    const { state, isToken } = warm(OLD);
    await isToken(OLD);
    Object.assign(state, { secret: new Error("timed out"), now: 60_000 });
    expect([await isToken(NEW), await isToken(OLD)]).toEqual([false, true]);
  });

  it.for(["", "short", "not a token, but a sentence"])("is none when the secret holds %j", async (secret) => {
    const { reasons, isToken } = warm(secret);
    expect(await isToken(secret)).toBe(false);
    expect(reasons).toEqual([expect.stringContaining("holds no token of 16 or more")]);
  });
});
