import { describe, expect, it } from "vitest";
import { kubernetesClient } from "#adapters/kubernetes/client.ts";
import { informer } from "#adapters/kubernetes/informer.ts";
import { listMemory } from "#adapters/kubernetes/list-memory.ts";
import type { ClusterReader } from "#adapters/kubernetes/snapshot.ts";
import { simulatedKubernetes } from "#lab/world/api-server.ts";
import { createLabWorld } from "#lab/world/world.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { fakeApiServer } from "./fake-api-server.ts";

/** A reader of pods and what changes them. */
interface Open {
  readonly reader: ClusterReader;
  put(pod: Pod): void;
  remove(name: string): void;
}
type Pod = ReturnType<typeof pod>;

const pod = (name: string, { phase = "Running", node = "n1", labels = {} as Record<string, string> } = {}) => ({
  ...{ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default", labels } },
  spec: { nodeName: node, containers: [] },
  status: { phase },
});

/** The lab's world in place of an API server. */
function lab(): Open {
  const world = createLabWorld({ seed: 1, start: 0 });
  const { store } = world;
  const by = { user: "test" };
  return {
    reader: simulatedKubernetes(world),
    put(object) {
      const { metadata } = object;
      const place = (o: ApiObject): ApiObject => ({ ...o, ...object, metadata: { ...o.metadata, ...metadata } }) as ApiObject;
      if (store.get("Pod", metadata.name, "default")) {
        store.patch("Pod", metadata.name, "default", by, place);
        store.patch("Pod", metadata.name, "default", { ...by, subresource: "status" }, place);
      } else store.create(object as ApiObject, by);
    },
    remove: (name) => {
      store.delete("Pod", name, { namespace: "default", gracePeriodSeconds: 0 }, by);
    },
  };
}

/** The adapters over an API server that speaks HTTP's part. */
function adapter(read: (api: ReturnType<typeof fakeApiServer>) => ClusterReader): () => Open {
  return () => {
    const api = fakeApiServer();
    return { reader: read(api), put: api.put, remove: (name) => api.remove(pod(name)) };
  };
}

describe.each<{ name: string; open: () => Open }>([
  { name: "the lab's world", open: lab },
  { name: "the client", open: adapter(({ send }) => kubernetesClient({ kubeconfig: "none", transport: send })) },
  {
    name: "the informer",
    // It remembers every list, so that all but the first are by watch.
    open: adapter(({ send, open }) => informer({ memory: listMemory(100), cluster: "c1", send, open, longerThan: 0 })()),
  },
])("$name as a reader of a cluster", ({ open }) => {
  const names = async (reader: ClusterReader, options?: Parameters<ClusterReader["list"]>[1]) =>
    (await reader.list("Pod", options)).map(({ metadata }) => metadata.name).sort();

  it("list returns the present objects each time", async () => {
    const { reader, put, remove } = open();
    for (const name of ["a", "b", "c"]) put(pod(name));
    expect(await names(reader)).toEqual(["a", "b", "c"]);
    put(pod("d"));
    remove("b");
    expect(await names(reader)).toEqual(["a", "c", "d"]);
    put(pod("b"));
    expect(await names(reader)).toEqual(["a", "b", "c", "d"]);
  });

  it("list follows objects that enter and leave a selection", async () => {
    const { reader, put } = open();
    put(pod("a", { labels: { tier: "web" } }));
    put(pod("b", { labels: { tier: "db" } }));
    const living = { fieldSelector: "status.phase!=Succeeded,status.phase!=Failed" };
    const web = { labelSelector: "tier=web" };
    expect([await names(reader, living), await names(reader, web)]).toEqual([["a", "b"], ["a"]]);
    put(pod("a", { phase: "Succeeded", labels: { tier: "db" } }));
    put(pod("b", { labels: { tier: "web" } }));
    expect([await names(reader, living), await names(reader, web)]).toEqual([["b"], ["b"]]);
  });

  it("a list that was returned does not change afterwards", async () => {
    const { reader, put, remove } = open();
    put(pod("a", { node: "n1" }));
    put(pod("b"));
    const before = await reader.list("Pod");
    put(pod("a", { node: "n2" }));
    remove("b");
    await reader.list("Pod");
    expect(before.map(({ metadata, spec }) => `${metadata.name} ${spec.nodeName}`).sort()).toEqual(["a n1", "b n1"]);
  });
});
