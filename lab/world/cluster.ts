import { startBudgets } from "./actors/budgets.ts";
import { startCronJobs } from "./actors/cron-jobs.ts";
import { startDevicePlugins } from "./actors/device-plugins.ts";
import { startGarbageCollector } from "./actors/garbage-collector.ts";
import { startJobs } from "./actors/jobs.ts";
import { type Kubelets, startKubelets } from "./actors/kubelet.ts";
import { startNodeLifecycle } from "./actors/node-lifecycle.ts";
import { startScheduler } from "./actors/scheduler.ts";
import { startVolumes } from "./actors/volumes.ts";
import { startWorkloads } from "./actors/workloads.ts";
import type { LabWorld } from "./world.ts";

/**
 * Starts the controllers of the control plane and the kubelets of the nodes. Returns the kubelets, which the machines
 * of the cloud join.
 */
export function startCluster(world: LabWorld, zones: readonly string[] = ["a", "b", "c"].map((z) => `${world.region}${z}`)): Kubelets {
  const kubelets = startKubelets(world);
  startWorkloads(world);
  startJobs(world);
  startCronJobs(world);
  startScheduler(world);
  startVolumes(world, zones);
  startBudgets(world);
  startNodeLifecycle(world, kubelets);
  startDevicePlugins(world);
  startGarbageCollector(world);
  return kubelets;
}
