import { clusterWide, type Draw } from "./fields.ts";

export const priorityClass: Draw = (random, i) => ({
  apiVersion: "scheduling.k8s.io/v1",
  kind: "PriorityClass",
  metadata: clusterWide(random, i),
  value: random.pick([0, 1, -(2 ** 31), 1_000_000_000]),
  preemptionPolicy: random.pick(["Never", "PreemptLowerPriority"]),
});

export const namespace: Draw = (random, i) => ({ apiVersion: "v1", kind: "Namespace", metadata: clusterWide(random, i, 63) });
