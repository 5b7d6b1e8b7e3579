import { expect, it } from "vitest";
import { sqliteNodeClaimStore } from "#adapters/store/sqlite-store.ts";
import type { HistoryEntry } from "#core/model/history-entry.ts";
import type { Pod } from "#core/model/pod.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { recordWaits } from "#functions/provision/record-waits.ts";
import type { ClusterDeps } from "#functions/shared/cluster-deps.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { CLUSTER, record } from "../../contracts/node-claim-store/contract.ts";
import { nodeWithClaim, pod, snapshotOf } from "../../support/scheduling/builders.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const CLAIMS = ["a", "b"].map((name) => nodeWithClaim(name, { initialized: false }));
const RECORDS = ["a", "b"].map((name) => record(`default-${name}`));
const aged = (name: string): Pod => pod(name, {}, {}, { creationTimestamp: new Date(NOW).toISOString() });

/** A store of a cluster, and how often its history is asked and written. */
function table() {
  const kept = sqliteNodeClaimStore();
  const calls = { reads: 0, writes: 0 };
  const store: Pick<NodeClaimStore, "history" | "addHistory"> = {
    history: async (...args) => {
      calls.reads++;
      return kept.history(...args);
    },
    addHistory: async (added) => {
      calls.writes += added.length;
      await kept.addHistory(added);
    },
  };
  const entries = (): Promise<readonly HistoryEntry[]> => kept.history(CLUSTER, { since: NOW, until: NOW + 3_600_000 });
  return { entries, calls, store };
}

/** A process of the function: `pass` is a plan that places pods on nodes by name, `seconds` after the first. */
function processOf({ store }: ReturnType<typeof table>) {
  const cluster = { name: CLUSTER };
  const memory = new ProcessMemory();
  return async (seconds: number, placed: Readonly<Record<string, readonly string[]>>): Promise<void> => {
    const now = NOW + seconds * 1_000;
    const pods = [...new Set(Object.values(placed).flat())].map(aged);
    const snapshot = snapshotOf({ nodes: CLAIMS.map(({ node }) => node), nodeClaims: CLAIMS.map(({ claim }) => claim), pods }, { now });
    const existingNodes = Object.entries(placed).map(([name, names]) => ({ name, pods: names.map((one) => `default/${one}`) }));
    const deps = { cluster, memory, store, now: () => now } as unknown as ClusterDeps;
    await recordWaits({ newNodeClaims: [], existingNodes, podErrors: {} }, snapshot, RECORDS, deps);
  };
}

it("pods that wait for a machine on its way are written once, whatever the number of passes", async () => {
  const kept = table();
  const pass = processOf(kept);
  for (let second = 0; second < 300; second += 10) await pass(second, { a: ["x", "y"], b: ["z"] });
  expect(kept.calls).toEqual({ reads: 2, writes: 2 });
  expect(await kept.entries()).toMatchObject([
    { type: "PodsNominated", nodeClaim: "default-a", node: "a", pods: ["default/x", "default/y"], podCount: 2 },
    { type: "PodsNominated", nodeClaim: "default-b", node: "b", pods: ["default/z"], podCount: 1 },
  ]);
});

it("another process reads what was written, and does not write it again", async () => {
  const kept = table();
  await processOf(kept)(0, { a: ["x"] });
  await processOf(kept)(1, { a: ["x"] });
  expect(kept.calls).toEqual({ reads: 2, writes: 1 });
});

it("a pod that comes later is an entry of its own", async () => {
  const kept = table();
  const pass = processOf(kept);
  await pass(0, { a: ["x"] });
  await pass(1, { a: ["x", "y"] });
  expect((await kept.entries()).map((entry) => "pods" in entry && entry.pods)).toEqual([["default/x"], ["default/y"]]);
});

it("a pod that each plan places elsewhere costs a write for each machine", async () => {
  const kept = table();
  const pass = processOf(kept);
  for (let second = 0; second < 600; second++) await pass(second, second % 2 === 0 ? { a: ["x"] } : { b: ["x"] });
  expect(kept.calls.writes).toBe(2);
});

it("a write that fails is made by the next pass", async () => {
  const kept = table();
  let isDown = true;
  const addHistory: NodeClaimStore["addHistory"] = async (added) => {
    if (isDown) throw new Error("throttled");
    await kept.store.addHistory(added);
  };
  const pass = processOf({ ...kept, store: { ...kept.store, addHistory } });
  await expect(pass(0, { a: ["x"] })).rejects.toThrow("throttled");
  isDown = false;
  await pass(1, { a: ["x"] });
  expect(kept.calls.writes).toBe(1);
});

it("pods that wait for nothing cost no call", async () => {
  const kept = table();
  await processOf(kept)(0, {});
  expect(kept.calls).toEqual({ reads: 0, writes: 0 });
});
