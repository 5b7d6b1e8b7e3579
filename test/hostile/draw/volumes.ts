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

export const volumeClaim: Draw = (random, i) => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: `none-${i % 5}`, namespace: TENANT_NAMESPACE },
  spec: {
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: random.pick(["1", "1Gi", "1e18"]) } },
    storageClassName: random.pick(["", "none", "constructor", `h${i - 1}`]),
  },
});

export const storageClass: Draw = (random, i) => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: clusterWide(random, i),
  provisioner: random.pick(["ebs.csi.aws.com", "kubernetes.io/no-provisioner", "constructor"]),
  volumeBindingMode: random.pick(["WaitForFirstConsumer", "Immediate"]),
  ...maybe(random, 0.5, () => ({
    allowedTopologies: [random.between(0, 9)].map((j) => ({
      matchLabelExpressions: [{ key: random.pick(edges.KEYS), values: [`x${j}`, "us-west-2a"] }],
    })),
  })),
});
