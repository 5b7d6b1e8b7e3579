import { describe, expect, it } from "vitest";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import { memoryLog } from "#adapters/telemetry/log.ts";
import { activeStore, lastActivity } from "#functions/shared/active-store.ts";
import type { ClusterDeps } from "#functions/shared/cluster-deps.ts";
import { type Quiet, unlessQuiet } from "#functions/shared/quiet-sweep.ts";
import { NOW, record } from "../../support/builders.ts";

const MINUTE = 60_000;
type Answers = Readonly<Record<string, readonly object[]>>;

/** Sweeps of a function that lists nodes and pods and then does `act`. */
function swept() {
  let now = NOW;
  let answers: Answers = { Node: [{ metadata: { name: "a", resourceVersion: "1" } }], Pod: [] };
  let settings: object = { quietSweeps: true };
  const asked: string[] = [];
  let whole = 0;
  let quiet: Quiet | undefined = { until: Number.POSITIVE_INFINITY };
  let act: (deps: ClusterDeps) => Promise<unknown> = async () => {};
  const store = activeStore(embeddedNodeClaimStore(), () => now);
  const kubernetes = {
    list: async (kind: string) => {
      asked.push(kind);
      return answers[kind];
    },
    update: async (_kind: string, object: object) => object,
    publish: async () => {},
  };
  const wakeUps = { wake: async () => {} };
  const depsNow = () =>
    ({ cluster: { name: "c1" }, store, kubernetes, wakeUps, settings, log: memoryLog(), now: () => now }) as unknown as ClusterDeps;
  return {
    store,
    asked,
    set: (next: { answers?: Answers; settings?: object; quiet?: Quiet | undefined; act?: typeof act }) => {
      answers = next.answers ?? answers;
      settings = next.settings ?? settings;
      if ("quiet" in next) quiet = next.quiet;
      act = next.act ?? act;
    },
    /** A sweep so much later; whether it looked at everything. */
    async sweep(afterMs = MINUTE): Promise<boolean> {
      now += afterMs;
      const before = whole;
      await unlessQuiet("test", depsNow(), async (deps) => {
        whole++;
        await deps.kubernetes.list("Node");
        await deps.kubernetes.list("Pod");
        await act(deps);
        return quiet;
      });
      return whole > before;
    },
  };
}

const NODE = { metadata: { name: "a", resourceVersion: "1" } };

describe("a sweep after one that had nothing to do", () => {
  it("asks the same, and ends when all answers are the same", async () => {
    const it = swept();
    expect(await it.sweep()).toBe(true);
    expect(await it.sweep()).toBe(false);
    expect(it.asked).toEqual(["Node", "Pod", "Node", "Pod"]);
  });

  it.for<{ name: string; change: Parameters<ReturnType<typeof swept>["set"]>[0]; looks: boolean }>([
    { name: "an object came", change: { answers: { Node: [NODE], Pod: [NODE] } }, looks: true },
    { name: "an object changed", change: { answers: { Node: [{ metadata: { name: "a", labels: { x: "y" } } }], Pod: [] } }, looks: true },
    {
      name: "an object changed its version alone",
      change: { answers: { Node: [{ metadata: { name: "a", resourceVersion: "2" } }], Pod: [] } },
      looks: false,
    },
    { name: "a setting changed", change: { settings: { quietSweeps: true, nodeRepair: true } }, looks: true },
    { name: "quiet sweeps are turned off", change: { settings: { quietSweeps: false } }, looks: true },
  ])("looks at everything when $name: $looks", async ({ change, looks }) => {
    const it = swept();
    await it.sweep();
    it.set(change);
    expect(await it.sweep()).toBe(looks);
  });

  it("looks at everything once the table may have changed, and is quiet again a minute after that", async () => {
    const it = swept();
    await it.sweep();
    await it.store.create(record({ cluster: "c1" }));
    expect(await it.sweep(30_000)).toBe(true);
    expect(await it.sweep(20_000)).toBe(true);
    expect(await it.sweep(20_000)).toBe(true);
    expect(await it.sweep()).toBe(false);
  });

  it("looks at everything after ten minutes, and when its clock was or is wrong", async () => {
    const it = swept();
    await it.sweep();
    expect(await it.sweep(9 * MINUTE)).toBe(false);
    expect(await it.sweep(MINUTE)).toBe(true);
    expect(await it.sweep(-5 * MINUTE)).toBe(true);
  });

  it("looks at everything when the time has come that the last one waited for", async () => {
    const it = swept();
    it.set({ quiet: { until: NOW + 3 * MINUTE } });
    expect([await it.sweep(), await it.sweep(), await it.sweep()]).toEqual([true, false, true]);
  });

  it("depends on what its function names alone", async () => {
    const it = swept();
    it.set({ quiet: { until: Number.POSITIVE_INFINITY, dependsOn: [{ list: ["Pod"], items: [] }] } });
    await it.sweep();
    it.set({ answers: { Node: [], Pod: [] } });
    expect(await it.sweep()).toBe(false);
    it.set({ answers: { Node: [], Pod: [NODE] } });
    expect(await it.sweep()).toBe(true);
  });
});

describe("a sweep is followed by a whole one", () => {
  it.for<{ name: string; change: Parameters<ReturnType<typeof swept>["set"]>[0] }>([
    { name: "has decided something", change: { quiet: undefined } },
    { name: "has written to the cluster", change: { act: (deps) => deps.kubernetes.update("Node", NODE as never) } },
    { name: "has woken a function", change: { act: (deps) => deps.wakeUps.wake([{ kind: "claim", cluster: "c1", claim: "a" }]) } },
    { name: "has written a record", change: { act: (deps) => deps.store.markUnavailable("c1", []) } },
  ])("when it $name", async ({ change }) => {
    const it = swept();
    it.set(change);
    await it.sweep();
    expect(await it.sweep()).toBe(true);
  });

  it("not when it has only published an event", async () => {
    const it = swept();
    it.set({ act: (deps) => deps.store.isFirstWithin("c1", "told", NOW, MINUTE) });
    await it.sweep();
    expect(await it.sweep()).toBe(false);
  });
});

it("a process marks a cluster as active before its writes, once in 20 s", async () => {
  let now = NOW;
  const table = embeddedNodeClaimStore();
  const store = activeStore(table, () => now);
  expect(await lastActivity("c1", store)).toBe(0);
  const made = await store.create(record({ cluster: "c1" }));
  expect(await lastActivity("c1", store)).toBe(NOW);
  now += 10_000;
  const again = await store.update(made);
  expect(await lastActivity("c1", store)).toBe(NOW);
  now += 10_000;
  await store.update(again);
  expect(await lastActivity("c1", store)).toBe(NOW + 20_000);
});
