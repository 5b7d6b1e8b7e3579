import assert from "node:assert/strict";
import { join } from "node:path";
import { kubernetesClient } from "#adapters/kubernetes/client.ts";
import { eksToken } from "#adapters/kubernetes/eks-token.ts";
import { readSnapshot } from "#adapters/kubernetes/snapshot.ts";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import { memoryLog } from "#adapters/telemetry/log.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { Pod } from "#core/model/pod.ts";
import type { Kubernetes } from "#core/ports/kubernetes.ts";
import { removeDir } from "../e2e/support/child.ts";
import { startCluster, type TestCluster } from "../e2e/support/cluster.ts";
import { projectRoot } from "../e2e/support/paths.ts";
import { eventually } from "../e2e/support/wait.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { informerChecks } from "./kubernetes/informer-checks.ts";

/**
 * Runs the Kubernetes adapter against a real API server (test/e2e/cluster), and prints "N passed, N failed". Exit code
 * 1 when one failed.
 */
const CLUSTER = "c1";
const KEY = { accessKeyId: "AKIAADAPTERTEST00001", secretAccessKey: "adapter-test-secret" };
const GROUP = "karpenter-serverless:test";

const NODE_CLASS_REF = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };
const claim = (name: string): NodeClaim => ({
  metadata: { name, labels: { "karpenter.sh/nodepool": "default" }, finalizers: ["karpenter.sh/termination"] },
  spec: {
    requirements: [{ key: "kubernetes.io/os", operator: "In", values: ["linux"] }],
    nodeClassRef: NODE_CLASS_REF,
    expireAfter: "720h",
  },
});
const pool: NodePool = {
  metadata: { name: "default" },
  spec: {
    template: { spec: { requirements: [{ key: "kubernetes.io/os", operator: "In", values: ["linux"] }], nodeClassRef: NODE_CLASS_REF } },
    disruption: { consolidateAfter: "1m" },
  },
};
const pod = (name: string, labels: Record<string, string> = {}): Pod => ({
  metadata: { name, namespace: "default", labels },
  spec: { containers: [{ name: "c", image: "i", resources: { requests: { cpu: "100m" } } }], terminationGracePeriodSeconds: 0 },
});

type Check = (client: Kubernetes, cluster: TestCluster) => Promise<void>;

const checks: Readonly<Record<string, Check>> = {
  "a token of an EKS access entry is accepted": async (client) => {
    assert.match(await client.version(), /^1\.\d+$/);
    assert.ok((await client.list("Namespace")).some(({ metadata }) => metadata.name === "kube-system"));
  },
  "a token for another cluster is refused with a sentence that names the mend": async (_client, cluster) => {
    const token = eksToken({ cluster: "other", region: "us-west-2", credentials: KEY });
    const stranger = kubernetesClient({ server: cluster.server, caData: cluster.caData, token });
    await assert.rejects(stranger.list("Namespace"), { name: "RefusedError", message: /access entry/ });
  },
  "a token that the server refuses is renewed once": async (_client, cluster) => {
    const good = eksToken({ cluster: CLUSTER, region: "us-west-2", credentials: KEY });
    const asked: boolean[] = [];
    const token = async ({ renew = false } = {}) => {
      asked.push(renew);
      return renew ? await good() : "k8s-aws-v1.stale";
    };
    await kubernetesClient({ server: cluster.server, caData: cluster.caData, token }).list("Namespace");
    assert.deepEqual(asked, [false, true]);
  },
  "a kubeconfig file works as well": async (_client, cluster) => {
    const admin = kubernetesClient({ kubeconfig: cluster.kubeconfig });
    assert.ok(await admin.get("Namespace", "default"));
  },
  "a server of another authority is not believed": async (_client, cluster) => {
    const token = eksToken({ cluster: CLUSTER, region: "us-west-2", credentials: KEY });
    const other = kubernetesClient({ server: cluster.server, caData: "", token });
    await assert.rejects(other.update("Namespace", { metadata: { name: "x" } }), (error: Error) => /certificate/.test(String(error.cause)));
  },
  "without the custom resource definitions it says what to install": async (client) => {
    await assert.rejects(client.list("NodePool"), { name: "RefusedError", message: /kubectl apply -f infra\/crds/ });
    await assert.rejects(client.get("NodeClaim", "x"), { name: "RefusedError", message: /kubectl apply -f infra\/crds/ });
    await assert.rejects(client.create("NodeClaim", claim("x")), { name: "RefusedError", message: /kubectl apply -f infra\/crds/ });
  },
  "custom resources are made, read, changed, and their status apart": async (client, cluster) => {
    await cluster.kubectl("apply", "-f", join(projectRoot, "infra", "crds"));
    await cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=300s");
    const made = await client.create("NodeClaim", claim("c1"));
    assert.ok(made.metadata.uid);
    await assert.rejects(client.create("NodeClaim", claim("c1")), { name: "ConflictError" });
    const labelled = await client.update("NodeClaim", { ...made, metadata: { ...made.metadata, annotations: { a: "b" } } });
    assert.equal(labelled.metadata.annotations?.["a"], "b");
    await assert.rejects(client.update("NodeClaim", made), { name: "ConflictError" });
    const status = { providerID: "aws:///us-west-2a/i-1", conditions: [] };
    const launched = await client.updateStatus("NodeClaim", { ...labelled, status });
    assert.equal(launched.status?.providerID, status.providerID);
    assert.equal((await client.get("NodeClaim", "c1"))?.metadata.annotations?.["a"], "b");
    assert.equal((await client.list("NodeClaim")).length, 1);
    await assert.rejects(client.update("NodeClaim", { ...made, metadata: { ...made.metadata, name: "nobody" } }), {
      name: "NotFoundError",
    });
  },
  "what the schema refuses comes back as the server's sentence": async (client) => {
    const bad = { ...pool, spec: { ...pool.spec, weight: 1_000 } };
    await assert.rejects(client.create("NodePool", bad), { name: "RefusedError", message: /^creating NodePool default: .*weight/ });
  },
  "deletion waits for finalizers, knows UIDs, and finds nothing the second time": async (client) => {
    assert.equal(await client.delete("NodeClaim", "c1", { uid: "00000000-0000-0000-0000-000000000000" }), false);
    const kept = await client.delete("NodeClaim", "c1");
    assert.ok(typeof kept === "object" && kept.metadata.deletionTimestamp);
    const going = await client.get("NodeClaim", "c1");
    assert.deepEqual(going, kept);
    assert.ok(going);
    await client.update("NodeClaim", { ...going, metadata: { ...going.metadata, finalizers: [] } });
    assert.equal(await client.get("NodeClaim", "c1"), undefined);
    assert.equal(await client.delete("NodeClaim", "c1"), false);
  },
  "a node from a list can be put back with a taint": async (client, cluster) => {
    await fetch(`${cluster.control}/join`, {
      method: "POST",
      body: JSON.stringify({ metadata: { name: "n1" }, status: { capacity: { cpu: "4", memory: "8Gi", pods: "50" } } }),
    });
    await eventually("the node is ready", async () =>
      (await client.list("Node")).some((node) =>
        node.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True"),
      ),
    );
    await eventually("the node is tainted", async () => {
      const [node] = await client.list("Node");
      assert.ok(node);
      try {
        await client.update("Node", { ...node, spec: { ...node.spec, taints: [{ key: "karpenter.sh/disrupted", effect: "NoSchedule" }] } });
        return true;
      } catch (error) {
        assert.equal((error as Error).name, "ConflictError");
        return false;
      }
    });
    const node = await client.get("Node", "n1");
    assert.ok(node?.spec.taints?.some(({ key }) => key === "karpenter.sh/disrupted"));
    await cluster.kubectl("taint", "node", "n1", "karpenter.sh/disrupted-");
  },
  "pods are read pruned, evicted under their budget, and deleted": async (client, cluster) => {
    await client.create("Pod", pod("free"));
    await client.create("Pod", pod("kept", { app: "kept" }));
    await client.create("Pod", pod("twice", { app: "twice", also: "twice" }));
    for (const [name, label] of Object.entries({ kept: "app=kept", twice1: "app=twice", twice2: "also=twice" })) {
      await cluster.kubectl("create", "pdb", name, `--selector=${label}`, "--min-available=1");
    }
    await eventually("the pods run", async () => (await client.list("Pod", { fieldSelector: "status.phase=Running" })).length === 3);
    await eventually("the budgets are worked out", async () => {
      const budgets = await cluster.kubectl("get", "pdb", "-o", "jsonpath={.items[*].status.currentHealthy}");
      return budgets.trim() === "1 1 1";
    });
    const pods = await client.list("Pod", { fieldSelector: "spec.nodeName=n1" });
    const named = (name: string): Pod => {
      const found = pods.find(({ metadata }) => metadata.name === name);
      assert.ok(found);
      return found;
    };
    assert.equal("managedFields" in named("free").metadata, false);
    assert.equal(named("free").spec.volumes?.length, 0);
    assert.equal(await client.evict(named("kept")), "blocked");
    assert.equal(await client.evict(named("twice")), "blocked");
    const stranger = { ...named("free"), metadata: { ...named("free").metadata, uid: "00000000-0000-0000-0000-000000000000" } };
    assert.equal(await client.evict(stranger), "gone");
    assert.equal(await client.evict(named("free")), "evicted");
    await eventually("the evicted pod is gone", async () => (await client.get("Pod", "free", "default")) === undefined);
    assert.equal(await client.evict(named("free")), "gone");
    assert.equal(await client.delete("Pod", "kept", { namespace: "default", gracePeriodSeconds: 0 }), true);
  },
  "a list longer than a page comes whole": async (client, cluster) => {
    const names = Array.from({ length: 520 }, (_, i) => `many-${i}`);
    const input = names.map((name) => JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name } })).join("\n---\n");
    await cluster.kubectl("create", "-f", "-", { input });
    const listed = new Set((await client.list("Namespace")).map(({ metadata }) => metadata.name));
    assert.deepEqual(
      names.filter((name) => !listed.has(name)),
      [],
    );
  },
  ...informerChecks,
  "events show in kubectl describe": async (client, cluster) => {
    const made = await client.create("NodeClaim", claim("told"));
    await client.publish({
      type: "Normal",
      reason: "Launched",
      message: "Status condition transitioned",
      about: { kind: "NodeClaim", metadata: made.metadata },
    });
    const [podTold] = await client.list("Pod");
    assert.ok(podTold);
    await client.publish({
      type: "Normal",
      reason: "Nominated",
      message: "Pod should schedule on: nodeclaim/told",
      about: { kind: "Pod", metadata: podTold.metadata },
    });
    const described = await cluster.kubectl("describe", "nodeclaim", "told");
    assert.match(described, /Normal\s+Launched\s+\S+\s+karpenter\s+Status condition transitioned/);
    assert.match(await cluster.kubectl("describe", "pod", podTold.metadata.name), /Nominated .* karpenter .*nodeclaim\/told/);
  },
  "a snapshot reads the cluster, and namespaces only for pods that select them by labels": async (client) => {
    await client.create("NodePool", pool);
    const store = embeddedNodeClaimStore();
    const read = { kubernetes: client, store, cluster: CLUSTER, now: 1, instanceTypesOf: () => [] };
    const snapshot = await readSnapshot(read);
    assert.equal(snapshot.nodePools.length, 1);
    assert.equal(snapshot.nodes.length, 1);
    assert.equal(snapshot.nodeClaims.length, 1);
    assert.ok(snapshot.pods.length >= 1);
    assert.equal(snapshot.namespaces.length, 0);
    const near = { topologyKey: "kubernetes.io/hostname", labelSelector: {}, namespaceSelector: {} };
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near] } };
    const virtualPods = [{ metadata: { name: "virtual" }, spec: { containers: [], affinity } }];
    assert.ok((await readSnapshot({ ...read, virtualPods })).namespaces.length > 520);
    store.close();
  },
};

const dataDir = temporaryFolder("cluster");
const cluster = await startCluster({ dataDir, clusterName: CLUSTER });
let [passed, failed] = [0, 0];
try {
  await cluster.setIdentities([{ ...KEY, arn: "arn:aws:iam::111122223333:role/test", username: "test", groups: [GROUP] }]);
  await cluster.kubectl("create", "clusterrolebinding", "adapter-test", "--clusterrole=cluster-admin", `--group=${GROUP}`);
  const log = memoryLog();
  const token = eksToken({ cluster: CLUSTER, region: "us-west-2", credentials: KEY });
  const client = kubernetesClient({ server: cluster.server, caData: cluster.caData, token, log });
  for (const [name, check] of Object.entries(checks)) {
    const start = performance.now();
    try {
      await check(client, cluster);
      assert.deepEqual(log.records, []);
      passed++;
      console.log(`ok     ${name} (${Math.round(performance.now() - start)} ms)`);
    } catch (error) {
      failed++;
      console.log(`FAILED ${name}\n       ${(error as Error).stack ?? String(error)}`);
    }
  }
} finally {
  await cluster.stop();
  removeDir(dataDir);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
