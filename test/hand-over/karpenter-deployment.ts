import { renameSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { apply } from "../e2e/arrange.ts";
import { CLUSTER, type Stage } from "../e2e/stage.ts";
import { KARPENTER_VERSION } from "../versus/karpenter/build.ts";
import { prepareForKarpenter, startController } from "../versus/karpenter/start.ts";

/** What the chart sets in the Deployment, and a person in its values. */
const ENV = { CLUSTER_NAME: CLUSTER, BATCH_IDLE_DURATION: "2s", FEATURE_GATES: "SpotToSpotConsolidation=true", LOG_LEVEL: "debug" };
const LABELS = { "app.kubernetes.io/name": "karpenter", "app.kubernetes.io/instance": "karpenter" };
const LOOK_MS = 200;

export interface InstalledKarpenter {
  /** The logs of its processes, one after the other. */
  readonly logs: readonly string[];
  readonly stop: () => Promise<void>;
}

/** The machine that Karpenter's own pods run on, which no Karpenter has launched. */
const SYSTEM_NODE = {
  metadata: {
    name: "system-node",
    labels: { "kubernetes.io/hostname": "system-node", "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", role: "system" },
  },
  spec: {
    providerID: "aws:///us-west-2a/i-00000000000000001",
    taints: [{ key: "CriticalAddonsOnly", value: "true", effect: "NoSchedule" }],
  },
  status: {
    capacity: { cpu: "4", memory: "8Gi", pods: "50" },
    allocatable: { cpu: "4", memory: "8Gi", pods: "50" },
    addresses: [{ type: "InternalIP", address: "10.0.255.1" }],
  },
};

const DEPLOYMENT = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "karpenter", namespace: "karpenter", labels: LABELS },
  spec: {
    replicas: 1,
    selector: { matchLabels: LABELS },
    template: {
      metadata: { labels: LABELS },
      spec: {
        nodeSelector: { role: "system" },
        tolerations: [{ key: "CriticalAddonsOnly", operator: "Exists" }],
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: "controller",
            image: `public.ecr.aws/karpenter/controller:${KARPENTER_VERSION}`,
            env: [
              ...Object.entries({ ...ENV, INTERRUPTION_QUEUE: CLUSTER }).map(([name, value]) => ({ name, value })),
              { name: "SYSTEM_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
            ],
          },
        ],
      },
    },
  },
};

/**
 * Karpenter as its chart installs it: a Deployment, for each of whose pods that runs the real controller runs beside
 * the API server, with leader election. The controller ends when the Deployment has no replica any more.
 */
export async function installKarpenter(stage: Stage): Promise<InstalledKarpenter> {
  await prepareForKarpenter(stage);
  const joined = await fetch(`${stage.cluster.control}/join`, { method: "POST", body: JSON.stringify(SYSTEM_NODE) });
  if (!joined.ok) throw new Error(`/join: ${await joined.text()}`);
  await apply(stage, DEPLOYMENT);
  const logs: string[] = [];
  let process: Awaited<ReturnType<typeof startController>> | undefined;
  let isOver = false;
  let failure: unknown;
  const follow = async (): Promise<void> => {
    while (!isOver) {
      const wanted = await isWanted(stage).catch(() => process !== undefined);
      if (wanted && process === undefined) {
        // In a pod the namespace is that of the pod.
        process = await startController(stage, { ...ENV, LEADER_ELECTION_NAMESPACE: "karpenter" });
      } else if (!wanted && process !== undefined) {
        await process.stop();
        const log = join(stage.dataDir, `karpenter-${logs.length + 1}.log`);
        renameSync(join(stage.dataDir, "karpenter.log"), log);
        logs.push(log);
        process = undefined;
      }
      await sleep(LOOK_MS);
    }
  };
  const following = follow().catch((error: unknown) => {
    failure = error;
    console.log(`Karpenter: ${error instanceof Error ? error.message : String(error)}`);
  });
  return {
    logs,
    async stop() {
      isOver = true;
      await following;
      await process?.stop();
      if (failure !== undefined) throw failure;
    },
  };
}

async function isWanted({ cluster }: Stage): Promise<boolean> {
  const { spec } = await cluster.get<{ spec: { replicas: number } }>("/apis/apps/v1/namespaces/karpenter/deployments/karpenter");
  return spec.replicas > 0;
}
