import { describe, expect, it } from "vitest";
import { sqliteNodeClaimStore } from "#adapters/store/sqlite-store.ts";
import type { Instance } from "#core/model/instance.ts";
import type { KubernetesObject } from "#core/model/kubernetes.ts";
import { reconcileReservations } from "#functions/lifecycle/reservations.ts";
import type { LifecycleDeps } from "#functions/shared/cluster-deps.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { INSTANCE, NOW, nodeClaim, record } from "../../support/builders.ts";
import { recordingLog } from "../../support/fakes.ts";

const LABELS = {
  "karpenter.sh/capacity-type": "reserved",
  "karpenter.k8s.aws/capacity-reservation-id": "cr-1",
  "karpenter.k8s.aws/capacity-reservation-type": "default",
  "karpenter.k8s.aws/capacity-reservation-interruptible": "false",
  team: "a",
};

async function scene(found: Partial<Instance>) {
  const store = sqliteNodeClaimStore();
  const instance = { ...INSTANCE, capacityType: "reserved" as const, reservationId: "cr-1" };
  await store.create(record({ uid: "uid-1", instance, version: 0 }));
  const claim = nodeClaim({ conditions: ["Launched", "Registered"] });
  const objects: Record<string, KubernetesObject> = {
    NodeClaim: {
      ...claim,
      metadata: { ...claim.metadata, labels: LABELS },
      status: { ...claim.status, nodeName: "n" },
    } as KubernetesObject,
    Node: { metadata: { name: "n", labels: LABELS } },
  };
  const kubernetes = {
    list: async () => [],
    get: async (kind: string) => objects[kind],
    update: async (kind: string, object: KubernetesObject) => {
      objects[kind] = object;
    },
  };
  const fleet = { describe: async () => [{ ...instance, ...found }] };
  const deps = { cluster: { name: "c1" }, memory: new ProcessMemory(), store, kubernetes, fleet, log: recordingLog(), now: () => NOW };
  const reconcile = async () => reconcileReservations(await store.list("c1"), deps as unknown as LifecycleDeps);
  return { reconcile, store, objects };
}

describe("an instance in a capacity reservation", () => {
  it("an instance whose reservation has ended becomes on-demand on its NodeClaim, node and record", async () => {
    const { reconcile, store, objects } = await scene({ capacityType: "on-demand", reservationId: undefined as never });
    await reconcile();
    const want = { "karpenter.sh/capacity-type": "on-demand", team: "a" };
    expect([objects["NodeClaim"]?.metadata.labels, objects["Node"]?.metadata.labels]).toEqual([want, want]);
    const [kept] = await store.list("c1");
    expect(kept?.instance).toEqual(INSTANCE);
    await reconcile();
    expect((await store.list("c1"))[0]?.version).toBe(kept?.version);
  });

  it("an instance in an active reservation is left as it is", async () => {
    const { reconcile, store, objects } = await scene({});
    const [before] = await store.list("c1");
    await reconcile();
    expect(objects["Node"]?.metadata.labels).toEqual(LABELS);
    expect(await store.list("c1")).toEqual([before]);
  });
});
