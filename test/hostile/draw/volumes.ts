import * as edges from "../edges.ts";
import { maybe, several } from "../edges.ts";
import { clusterWide, type Draw, expression, TENANT_NAMESPACE } from "./fields.ts";

export const persistentVolume: Draw = (random, i) => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: clusterWide(random, i),
  spec: {
    capacity: { storage: random.pick(["1", "1Gi", "1e18", "8Ei"]) },
    accessModes: [random.pick(["ReadWriteOnce", "ReadOnlyMany"])],
    csi: {
      driver: random.pick(["ebs.csi.aws.com", "constructor.io"]),
      volumeHandle: random.pick(["vol-1", "constructor", "x".repeat(2_000)]),
    },
    ...maybe(random, 0.6, () => ({
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [expression(random)] },
            ...several(random, 200, () => ({ matchExpressions: [expression(random)] })),
          ],
        },
      },
    })),
    ...maybe(random, 0.5, () => ({ claimRef: { namespace: TENANT_NAMESPACE, name: `none-${random.between(0, 3)}` } })),
  },
});

/** So many classes are there at a time. */
const CLASSES = 4;

export const volumeClaim: Draw = (random, i) => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: {
    name: `none-${i % 20}`,
    namespace: TENANT_NAMESPACE,
    ...maybe(random, 0.3, () => ({ annotations: { "pv.kubernetes.io/bind-completed": "yes" } })),
  },
  spec: {
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: random.pick(["1", "1Gi", "1e18"]) } },
    storageClassName: random.pick(["", "none", "constructor", ...Array.from({ length: 8 }, (_, j) => `class-${j % CLASSES}`)]),
    ...maybe(random, 0.2, () => ({ volumeName: random.pick(["none", `h${i - 1}`, `h${i - 2}`]) })),
  },
});

export const storageClass: Draw = (random, i) => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { ...clusterWide(random, i), name: `class-${i % CLASSES}` },
  provisioner: random.pick(["ebs.csi.aws.com", "kubernetes.io/no-provisioner", "constructor"]),
  volumeBindingMode: random.pick(["WaitForFirstConsumer", "WaitForFirstConsumer", "Immediate"]),
  ...maybe(random, 0.7, () => ({
    // A pod with several claims may use each combination of their places.
    allowedTopologies: several(random, 300, (j) => ({
      matchLabelExpressions: [{ key: random.pick(edges.KEYS), values: [`x${j}`, "us-west-2a"] }],
    })),
  })),
});

/** What a CSI driver says of a node that need not exist. */
export const csiNode: Draw = (random, i) => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "CSINode",
  metadata: clusterWide(random, i),
  spec: {
    drivers: random.pick<() => object | null>([
      () => [],
      () =>
        several(random, 100, (j) => ({
          ...{ name: `d${j}.example`, nodeID: "x" },
          ...maybe(random, 0.7, () => ({ allocatable: random.pick<object>([{}, { count: 0 }, { count: 2 ** 31 - 1 }]) })),
        })),
    ])(),
  },
});
