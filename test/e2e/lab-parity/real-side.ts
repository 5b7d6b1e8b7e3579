import { setTimeout as sleep } from "node:timers/promises";
import { KubeConfig, type KubernetesObject, KubernetesObjectApi, PatchStrategy, Watch } from "@kubernetes/client-node";
import type { ApiObject } from "#manifests/api-object.ts";
import { startCluster, type TestCluster } from "../support/cluster.ts";
import { eventually } from "../support/wait.ts";
import type { Step } from "./cases.ts";
import { type Outcome, outcomeOf, type WatchedChange } from "./outcome.ts";

const WATCHED = [
  "/api/v1/pods",
  "/api/v1/nodes",
  "/api/v1/persistentvolumeclaims",
  "/apis/apps/v1/deployments",
  "/apis/apps/v1/statefulsets",
  "/apis/apps/v1/daemonsets",
  "/apis/batch/v1/jobs",
  "/apis/policy/v1/poddisruptionbudgets",
];
/** How long nothing may have changed before a step is over. kube-scheduler tries a pod again after 10 s at most. */
const QUIET_MS = { none: 0, short: 2_000, long: 11_000 };
const MAX_STEP_MS = 300_000;

/** Plays the steps in a new cluster with a real control plane. */
export async function playInCluster(steps: readonly Step[], dataDir: string): Promise<Outcome> {
  const cluster = await startCluster({ dataDir, clusterName: "parity" });
  try {
    const config = new KubeConfig();
    config.loadFromFile(cluster.kubeconfig);
    const changes: WatchedChange[] = [];
    let changedAt = 0;
    const hear = (type: string, object: ApiObject): void => {
      if (type !== "ADDED" && type !== "MODIFIED" && type !== "DELETED") return;
      changes.push({ type, object });
      // Nodes have heartbeats.
      if (object.kind !== "Node") changedAt = Date.now();
    };
    const stops = WATCHED.map((path) => follow(path, config, hear));
    const client = KubernetesObjectApi.makeApiClient(config);
    for (const step of steps) {
      // The lab begins with a minute too.
      if (typeof step.wait === "number") while (new Date().getSeconds() !== 1) await sleep(100);
      await take(step, cluster, client);
      const began = Date.now();
      changedAt = began;
      if (typeof step.wait === "number") await sleep(step.wait * 1_000);
      else while (Date.now() - changedAt < QUIET_MS[step.wait] && Date.now() - began < MAX_STEP_MS) await sleep(100);
    }
    for (const stop of stops) stop();
    return outcomeOf(inOrder(changes));
  } finally {
    await cluster.stop();
  }
}

/** Watches a list until it is stopped. A watch on which nothing happens ends after half a minute and is continued. */
function follow(path: string, config: KubeConfig, hear: (type: string, object: ApiObject) => void): () => void {
  let isOver = false;
  let version: string | undefined;
  let current: AbortController | undefined;
  const note = (type: string, object: ApiObject): void => {
    version = object.metadata?.resourceVersion ?? version;
    hear(type, object);
  };
  const run = async (): Promise<void> => {
    while (!isOver) {
      const since = version === undefined ? {} : { resourceVersion: version };
      await new Promise<void>((resolve) => {
        new Watch(config)
          .watch(path, since, note, () => resolve())
          .then(
            (watch) => {
              current = watch;
            },
            () => resolve(),
          );
      });
      await sleep(100);
    }
  };
  void run();
  return () => {
    isOver = true;
    current?.abort();
  };
}

/** The changes of several watches in the order of their writes: one store numbers the versions of all objects. */
function inOrder(changes: readonly WatchedChange[]): readonly WatchedChange[] {
  const version = ({ object }: WatchedChange): number => Number(object.metadata.resourceVersion);
  return [...changes].sort((a, b) => version(a) - version(b));
}

async function take({ verb, objects }: Step, { control, get }: TestCluster, client: KubernetesObjectApi): Promise<void> {
  for (const object of objects) {
    if (object.kind === "Node" && verb === "apply") {
      const joined = await fetch(`${control}/join`, { method: "POST", body: JSON.stringify(object) });
      if (!joined.ok) throw new Error(`${object.metadata.name} does not join: ${await joined.text()}`);
    } else if (verb === "delete") await client.delete(placed(object));
    else {
      // A namespace has no service account in its first moments, and pods are refused until then.
      await eventually(`${object.kind} ${object.metadata.name} is applied`, async () =>
        client.patch(placed(object), undefined, undefined, "lab-parity", true, PatchStrategy.ServerSideApply),
      );
    }
  }
  if (!objects.some(({ kind }) => kind === "Node")) return;
  await eventually("the nodes are ready and have no taint of the node controller", async () => {
    const { items } = await get<{ items: readonly { spec: { taints?: readonly { key: string }[] } }[] }>("/api/v1/nodes");
    return items.every(({ spec }) => !spec.taints?.some(({ key }) => key === "node.kubernetes.io/not-ready"));
  });
}

/** The client reads no field of it but the names. */
const placed = (object: ApiObject): KubernetesObject => object as unknown as KubernetesObject;
