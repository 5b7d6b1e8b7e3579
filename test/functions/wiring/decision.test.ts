import { expect, it } from "vitest";
import { kubernetesClient } from "#adapters/kubernetes/client.ts";
import { StaleReadingError } from "#adapters/kubernetes/remembered-list.ts";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import { forDecision } from "#functions/wiring/decision.ts";
import { record } from "../../contracts/node-claim-store/contract.ts";

const POD = { metadata: { name: "p", namespace: "ns" }, spec: {} };

/** The ports of a decision whose readings turn out to be old. */
function misled() {
  const asked: string[] = [];
  const kubernetes = kubernetesClient({
    kubeconfig: "none",
    transport: async ({ method, path }) => {
      asked.push(`${method} ${path}`);
      return { status: 200, body: POD };
    },
  });
  const store = embeddedNodeClaimStore();
  const prove = async (): Promise<void> => {
    throw new StaleReadingError("pods changed while they were being read; the next run decides again");
  };
  const list = async () => [];
  return { asked, store, ports: forDecision({ kubernetes, store }, { list, prove }) };
}

it("a decision on an old list writes nothing, neither to the cluster nor to the store", async () => {
  const { asked, store, ports } = misled();
  const { kubernetes } = ports;
  const lease = await ports.store.acquireLease("c1", "me", 0, 30_000);
  if (lease === undefined) throw new Error("the lease is free");
  const writes = [
    () => kubernetes.create("Pod", POD),
    () => kubernetes.update("Pod", POD),
    () => kubernetes.updateStatus("Pod", POD),
    () => kubernetes.delete("Pod", "p", { namespace: "ns" }),
    () => kubernetes.evict(POD),
    () => ports.store.writeIntents(lease, [record("a")]),
    () => ports.store.create(record("a")),
    () => ports.store.update(record("a")),
    () => ports.store.remove(record("a")),
  ];
  for (const write of writes) await expect(write()).rejects.toThrow("the next run decides again");
  expect([asked, await store.list("c1")]).toEqual([[], []]);
  store.close();
});

it("single objects are read from the API server, lists from the informer", async () => {
  const { asked, store, ports } = misled();
  expect(await ports.kubernetes.get("Pod", "p", "ns")).toEqual(POD);
  expect(await ports.kubernetes.list("Pod")).toEqual([]);
  expect(asked).toEqual(["GET /api/v1/namespaces/ns/pods/p"]);
  store.close();
});
