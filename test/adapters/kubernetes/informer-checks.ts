import assert from "node:assert/strict";
import { informer } from "#adapters/kubernetes/informer.ts";
import { kindCache } from "#adapters/kubernetes/kind-cache.ts";
import { listMemory } from "#adapters/kubernetes/list-memory.ts";
import { httpsTransport, type OpenStream, type Transport } from "#adapters/kubernetes/transport.ts";
import { openWatch } from "#adapters/kubernetes/watch.ts";
import type { Namespace } from "#core/model/workloads.ts";
import type { Kubernetes } from "#core/ports/kubernetes.ts";
import type { TestCluster } from "../../e2e/support/cluster.ts";

// What the informer relies on, tried on a real API server. They follow a check that has created more than a page of
// namespaces.

const sorted = (items: readonly Namespace[]) => items.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).sort();

/** A transport that counts its calls by kind. */
function counted(cluster: TestCluster) {
  const { send, open } = httpsTransport({ kubeconfig: cluster.kubeconfig });
  const calls = { lists: 0, versions: 0, watches: 0, heads: 0, gets: 0 };
  const counting: Transport = (request) => {
    const { query: { limit } = {}, accept } = request;
    calls[accept !== undefined ? "heads" : limit === undefined ? "gets" : limit === "1" ? "versions" : "lists"]++;
    return send(request);
  };
  const opening: OpenStream = (...given) => {
    calls.watches++;
    return open(...given);
  };
  return { calls, reach: { send: counting, open: opening } };
}

export const informerChecks: Readonly<Record<string, (client: Kubernetes, cluster: TestCluster) => Promise<void>>> = {
  "a remembered list is brought up to date by a watch, and proven by a bookmark": async (client, cluster) => {
    const { calls, reach } = counted(cluster);
    const begin = informer({ memory: listMemory(10_000), cluster: cluster.clusterName, ...reach });
    await begin().list("Namespace");
    assert.deepEqual(calls, { lists: 2, versions: 0, watches: 0, heads: 0, gets: 0 });
    for (let round = 0; round < 5; round++) {
      const made = await client.create("Namespace", { metadata: { name: `watched-${round}` } });
      await client.update("Namespace", { ...made, metadata: { ...made.metadata, labels: { round: "changed" } } });
      await client.delete("Namespace", `many-${round}`);
      // A write of another kind, after which only a bookmark can prove that the list is complete.
      await cluster.kubectl("create", "configmap", `passing-${round}`);
      const readings = begin();
      const read = sorted(await readings.list("Namespace"));
      const whole = sorted(await client.list("Namespace"));
      // The namespace controller meanwhile finishes those that were deleted.
      const same = (names: readonly string[]) => names.filter((name) => !name.startsWith("many-"));
      assert.deepEqual(same(read), same(whole));
      await readings.prove();
    }
    assert.deepEqual(calls, { lists: 2, versions: 5, watches: 5, heads: 0, gets: 0 });
  },
  "a remembered list whose version the server has forgotten is caught up with by metadata, and only what has changed is read": async (
    client,
    cluster,
  ) => {
    const { calls, reach } = counted(cluster);
    let isForgotten = false;
    const open: OpenStream = async (...given) => {
      const { status, ...stream } = await reach.open(...given);
      if (!isForgotten) return { status, ...stream };
      isForgotten = false;
      stream.close();
      return { status: 410, ended: Promise.resolve(), close: () => {} };
    };
    const begin = informer({ memory: listMemory(10_000), cluster: cluster.clusterName, send: reach.send, open, caughtUpFrom: 0 });
    const first = await begin().list("Namespace");
    const made = await client.create("Namespace", { metadata: { name: "caught-up" } });
    await client.update("Namespace", { ...made, metadata: { ...made.metadata, labels: { round: "changed" } } });
    isForgotten = true;
    const readings = begin();
    const items = await readings.list("Namespace");
    await readings.prove();
    // All others are the same objects as before.
    const before = new Map(first.map((object) => [object.metadata.name, object]));
    assert.deepEqual(
      items
        .filter((object) => before.get(object.metadata.name) !== object)
        .map(({ metadata }) => metadata.labels?.["round"] ?? metadata.name),
      ["changed"],
    );
    assert.deepEqual(calls, { lists: 2, versions: 2, watches: 2, heads: 1, gets: 1 });
  },
  "a version that the server has forgotten ends the watch before any change": async (_client, cluster) => {
    const { open } = httpsTransport({ kubeconfig: cluster.kubeconfig });
    const changes: string[] = [];
    // Older than the kind itself.
    const watch = await openWatch(open, "NodeClaim", {}, kindCache("NodeClaim", [], "1"), (version) => changes.push(version));
    assert.equal(await watch.until("18446744073709551615"), "ended");
    assert.deepEqual(changes, []);
  },
};
