import { managedObjects } from "#adapters/kubernetes/managed-objects.ts";
import { memoryLog } from "#adapters/telemetry/log.ts";
import { memoryMetrics } from "#adapters/telemetry/metrics.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { disrupt } from "#functions/disruption/disrupt.ts";
import { sweep } from "#functions/lifecycle/sweep.ts";
import { provision } from "#functions/provision/provision.ts";
import type { LifecycleDeps } from "#functions/shared/cluster-deps.ts";
import type { Lab } from "#lab/host.ts";
import { simulatedKubernetes } from "#lab/world/api-server.ts";

/** What a function says in its log when a sweep ends at once. */
export const QUIET_LINE = "nothing has changed since the last sweep";

const SWEEPS: Readonly<Record<string, (deps: LifecycleDeps) => Promise<unknown>>> = {
  provision: (deps) => provision({ cause: "Sweep" }, deps),
  disruption: (deps) => disrupt({ cause: "Sweep" }, deps),
  lifecycle: sweep,
};

/** A sweep would do something: it goes no further. */
class WouldWriteError extends Error {
  override readonly name = "WouldWriteError";
}

/** What a whole sweep of the function would do first, besides events and history; undefined when it does nothing. */
export async function whatSweepWouldDo(fn: string, { world, cloud, deps }: Lab, table: NodeClaimStore): Promise<string | undefined> {
  let first: string | undefined;
  const refuse =
    (what: string) =>
    async (...args: readonly unknown[]): Promise<never> => {
      first ??= `${what} ${JSON.stringify(args).slice(0, 160)}`;
      throw new WouldWriteError(first);
    };
  const refused = (port: string, methods: readonly string[]) =>
    Object.fromEntries(methods.map((method) => [method, refuse(`${port}.${method}`)]));
  const { cluster } = world;
  const ports: LifecycleDeps = {
    ...deps,
    // A function that has just started, and that is quiet about what it sees.
    ...{ cluster: { ...deps.cluster }, log: memoryLog(), metrics: memoryMetrics(), settings: { ...deps.settings, quietSweeps: false } },
    kubernetes: managedObjects({
      ...simulatedKubernetes(world),
      ...refused("kubernetes", ["create", "update", "updateStatus", "delete", "evict", "nominate"]),
      publish: async () => {},
    }),
    store: {
      ...table,
      ...refused("store", ["create", "update", "remove", "markUnavailable"]),
      putDocument: async (...args) => void (args[0].startsWith("stays/") || (await refuse("store.putDocument")(...args))),
      writeIntents: async (...args) => void (args[1].length > 0 && (await refuse("store.writeIntents")(...args))),
      ...refused("store", ["createCommand", "updateCommand", "removeCommand"]),
      acquireLease: async (_cluster, holder, now, ttlMs) => ({ cluster, holder, token: 0, expiresAt: now + ttlMs }),
      renewLease: async (lease) => lease,
      releaseLease: async () => {},
      isFirstWithin: async () => false,
      addHistory: async () => {},
    },
    fleet: { ...cloud.fleet, ...refused("fleet", ["launch", "terminate", "ensureLaunchTemplate"]) },
    wakeUps: { wake: async (wakeUps) => void (wakeUps.length > 0 && (await refuse("wake")(wakeUps))) },
    now: () => world.clock.now(),
  };
  await SWEEPS[fn]?.(ports).catch((error: unknown) => {
    if (!(error instanceof WouldWriteError)) throw error;
  });
  return first;
}
