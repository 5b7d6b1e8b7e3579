import type { Random } from "#lab/world/random.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { ODD } from "../invariants/facts.ts";
import { NODE_CLASS } from "../story.ts";

const named = (i: number): string => `${ODD}-${i}`;

const pod = (i: number, spec: object, requests: object = { cpu: "100m" }): ApiObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: named(i), namespace: ODD, labels: { constructor: "x" } },
  spec: { containers: [{ name: "main", image: "pause", resources: { requests } }], ...spec },
});

const required = (matchExpressions: readonly object[]): object => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } } },
});

const pool = (i: number, spec: object): ApiObject => ({
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: { name: named(i) },
  spec: {
    template: {
      spec: {
        requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] }],
        nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: named(i) },
      },
    },
    // Its own pods alone would want it.
    weight: 100,
    ...spec,
  },
});

const nodeClass = (i: number, more: object): ApiObject => ({
  ...NODE_CLASS,
  metadata: { name: named(i) },
  spec: { ...(NODE_CLASS.spec as object), ...more },
});

const NODE: Pick<ApiObject, "apiVersion" | "kind"> = { apiVersion: "v1", kind: "Node" };

/** Stands for a pod of a megabyte, which is made only where it is drawn. */
const LARGE: readonly ApiObject[] = [];

/** What an API server admits and no decision can use; `i` makes the names unique. */
export function drawOdd(i: number, random: Random): readonly ApiObject[] {
  const drawn = random.pick<readonly ApiObject[]>([
    [pod(i, { nodeSelector: { constructor: "x" } })],
    [pod(i, required([{ key: "toString", operator: "Exists" }]))],
    [pod(i, {}, { cpu: "100m", memory: "1e9999" })],
    [pod(i, required([{ key: "karpenter.k8s.aws/instance-cpu", operator: "Lt", values: ["9".repeat(26)] }]))],
    [pod(i, required(Array.from({ length: 101 }, (_, n) => ({ key: `key-${n}`, operator: "DoesNotExist" }))))],
    LARGE,
    LARGE,
    [pod(i, { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "there-is-none" } }] })],
    [pod(i, { ...required([{ key: "karpenter.sh", operator: "DoesNotExist" }]), priority: 2_000_000_000 })],
    [pool(i, { limits: { cpu: "1e1.5" } }), nodeClass(i, {})],
    [pool(i, { limits: { cpu: "0".repeat(400), memory: "1e1.5" } }), nodeClass(i, {})],
    [pool(i, {}), nodeClass(i, { kubelet: { systemReserved: { cpu: "1e1.5" } } })],
    [pool(i, {})],
    [pool(i, { disruption: { consolidateAfter: "0s", budgets: [{ nodes: "0", schedule: "99 99 * * *", duration: "10m" }] } })],
    [
      {
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: { name: named(i), namespace: ODD },
        spec: { maxUnavailable: "9999999999%", selector: { matchExpressions: [{ key: "constructor", operator: "Exists" }] } },
      },
    ],
    [{ ...NODE, metadata: { name: named(i), labels: { "karpenter.sh/registered": "true" } }, spec: { providerID: "aws:///us-west-2a/" } }],
    [{ ...NODE, metadata: { name: named(i), labels: { "karpenter.sh/nodepool": "general" } }, spec: {} }],
  ]);
  if (drawn !== LARGE) return drawn;
  const values = Array.from({ length: 15_000 }, () => random.hex(60));
  return [pod(i, required([{ key: "team", operator: "NotIn", values }]))];
}
