import { setTimeout as sleep } from "node:timers/promises";
import { apply, PATIENTLY } from "../../e2e/arrange.ts";
import { type Stage, startStage } from "../../e2e/stage.ts";
import { eventually } from "../../e2e/support/wait.ts";
import { CLASS, pool } from "../../versus/courses/objects.ts";
import { startKarpenter } from "../../versus/karpenter/start.ts";
import { startProduct } from "../../versus/product.ts";
import { BOOT_MS, PENDING_MS, READY_AFTER } from "../../versus/timing.ts";
import { deployment, markingOf, marks, type Played } from "./observe.ts";

// kube-scheduler beside an autoscaler that launches machines for the pods while they are marked.

/** From Ready NodePools to the pods: what the autoscaler does because of its start is over. */
const WARM_UP_MS = 5_000;

const STARTS = {
  Karpenter: startKarpenter,
  "ours, webhook": (stage: Stage) => startProduct(stage, "webhook"),
  "ours, audit log": (stage: Stage) => startProduct(stage, "audit"),
  "ours, sweep": (stage: Stage) => startProduct(stage, "sweep"),
} as const;

export const AUTOSCALERS = Object.keys(STARTS) as (keyof typeof STARTS)[];

/** One burst beside the autoscaler, in a cluster of its own. */
export async function playAutoscaler(name: keyof typeof STARTS, pods: number, dataDir: string): Promise<Played> {
  const stage = await startStage({
    dataDir,
    bootMs: BOOT_MS,
    readyAfter: READY_AFTER,
    aws: { bootDelayMs: PENDING_MS, terminateDelayMs: 1_000, onEvent: () => {} },
  });
  const { cluster } = stage;
  const autoscaler = await STARTS[name](stage);
  try {
    await apply(stage, CLASS, pool("default"));
    await cluster.kubectl("wait", "--for=condition=Ready", "nodepool", "--all", PATIENTLY);
    await sleep(WARM_UP_MS);
    await apply(stage, deployment("burst", pods));
    const available = (): Promise<string> => cluster.kubectl("get", "deployment", "burst", "-o", "jsonpath={.status.availableReplicas}");
    await eventually("all pods run", async () => Number(await available()) >= pods, { timeoutMs: 300_000, everyMs: 1_000 });
    // Pods that were bound to a new node before kube-scheduler had found them unschedulable have no mark.
    const { begin: _, ...played } = markingOf(marks(cluster.auditLog, "burst"));
    return played;
  } finally {
    await autoscaler.stop();
    await stage.stop();
  }
}
