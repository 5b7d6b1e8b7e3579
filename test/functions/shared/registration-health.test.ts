import { expect, it } from "vitest";
import type { NodePool } from "#core/model/node-pool.ts";
import { registrationsOf } from "#core/node-pool/registration-health.ts";
import { ConflictError } from "#core/ports/errors.ts";
import type { LifecycleDeps } from "#functions/shared/cluster-deps.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { recordRegistrationHealth } from "#functions/shared/registration-health.ts";
import { NOW, nodeClaim } from "../../support/builders.ts";
import { nodePool } from "../../support/objects.ts";

const UID = "uid-pool";
const owned = nodeClaim({ ownerReferences: [{ apiVersion: "karpenter.sh/v1", kind: "NodePool", name: "default", uid: UID }] });

const made = nodePool("default", { uid: UID });

/** An API server with one NodePool, whose next `conflicts` writes fail, and the calls that it gets. */
function scene({ conflicts = 0, uid = UID } = {}) {
  let pool: NodePool = { ...made, metadata: { ...made.metadata, uid, generation: 1 } };
  const calls: string[] = [];
  let left = conflicts;
  const errors: string[] = [];
  const write = async (kind: string, change: (before: NodePool) => NodePool): Promise<NodePool> => {
    calls.push(kind);
    if (left-- > 0) throw new ConflictError("changed");
    pool = change(pool);
    return pool;
  };
  const deps = {
    cluster: { name: "c1" },
    memory: new ProcessMemory(),
    invocation: new ProcessMemory(),
    now: () => NOW,
    log: { error: (message: string) => void errors.push(message) },
    kubernetes: {
      get: async () => {
        calls.push("get");
        return pool;
      },
      update: (_: string, { metadata }: NodePool) => write("update", (before) => ({ ...before, metadata })),
      updateStatus: (_: string, { status }: NodePool) => write("updateStatus", (before) => ({ ...before, ...(status && { status }) })),
      publish: async () => undefined,
    },
  } as unknown as LifecycleDeps;
  const outcome = (claim: string, registered = true): Promise<void> => recordRegistrationHealth(owned, { claim, registered }, deps);
  return { deps, outcome, calls, errors, pool: () => pool };
}

const NAMES = ["a", "b", "c", "d", "e", "f", "g", "h"];

it("nodes that register at the same moment in one invocation share one read and one write of their NodePool", async () => {
  const { outcome, calls, pool } = scene();
  await outcome("failed", false);
  calls.length = 0;
  await Promise.all(NAMES.map((name) => outcome(name)));
  expect(calls).toEqual(["get", "update", "updateStatus"]);
  expect(registrationsOf(pool()).map(({ claim }) => claim)).toEqual(NAMES.slice(0, 4));
});

it("outcomes that come while others are written are written after them, none is lost", async () => {
  const { outcome, pool, deps } = scene();
  const { kubernetes } = deps;
  const later: Promise<void>[] = [];
  const update = kubernetes.update.bind(kubernetes);
  Object.assign(kubernetes, {
    update: (kind: "NodePool", written: NodePool) => {
      if (later.length === 0) later.push(outcome("late", false));
      return update(kind, written);
    },
  });
  await outcome("early", false);
  await Promise.all(later);
  expect(registrationsOf(pool()).map(({ claim }) => claim)).toEqual(["early", "late"]);
});

it("an outcome is written again on what another writer has made of the NodePool", async () => {
  const { outcome, pool, calls, errors } = scene({ conflicts: 2 });
  await outcome("a", false);
  expect(registrationsOf(pool())).toEqual([{ claim: "a", registered: false }]);
  expect(calls.filter((call) => call === "get")).toHaveLength(3);
  expect(errors).toEqual([]);
});

it("a NodePool that was made anew says nothing of the NodeClaims of the old one", async () => {
  const { outcome, calls } = scene({ uid: "another" });
  await outcome("a", false);
  expect(calls).toEqual(["get"]);
});

it("a NodePool that cannot be read is told in the log, and the next outcome is written", async () => {
  const { deps, outcome, errors, pool } = scene();
  const { get } = deps.kubernetes;
  Object.assign(deps.kubernetes, { get: () => Promise.reject(new Error("no answer")) });
  await outcome("a", false);
  expect(errors).toEqual(["failed telling a NodePool how a registration ended"]);
  Object.assign(deps.kubernetes, { get });
  await outcome("b", false);
  expect(registrationsOf(pool())).toEqual([{ claim: "b", registered: false }]);
});

it("nodes that join soon after others of a healthy NodePool do not read it again, and a failure does", async () => {
  const { outcome, calls, pool } = scene();
  await outcome("a");
  calls.length = 0;
  await outcome("b");
  expect(calls).toEqual([]);
  await outcome("c", false);
  await outcome("d");
  expect(registrationsOf(pool()).map(({ claim }) => claim)).toEqual(["c", "d"]);
});
