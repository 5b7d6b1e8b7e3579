import { expect, it } from "vitest";
import type { NodePoolSpec } from "#core/model/node-pool.ts";
import { nodePoolHash } from "#core/node-pool/hash.ts";

const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };
const labels = { team: "a", env: "prod" };
type Template = NodePoolSpec["template"];

function hash(spec: Partial<Template["spec"]>, metadata?: Template["metadata"]): string {
  const template = { spec: { requirements: [], nodeClassRef, expireAfter: "720h", ...spec }, ...(metadata && { metadata }) };
  return nodePoolHash({ spec: { template } });
}

it.for<{ name: string; spec?: Partial<Template["spec"]>; metadata?: Template["metadata"]; want: string }>([
  { name: "A: a month", want: "6821555240594823858" },
  { name: "B: never", spec: { expireAfter: "Never" }, want: "17369979337536258260" },
  { name: "C: labels", metadata: { labels }, want: "14252226014800573201" },
  {
    name: "D: all fields",
    spec: {
      taints: [
        { key: "dedicated", value: "gpu", effect: "NoSchedule" },
        { key: "k2", effect: "NoExecute" },
      ],
      startupTaints: [{ key: "node.cilium.io/agent-not-ready", value: "true", effect: "NoExecute" }],
      terminationGracePeriod: "48h",
    },
    metadata: { labels, annotations: { "example.com/owner": "x" } },
    want: "6248210152699513142",
  },
  {
    name: "E: present but empty",
    spec: { taints: [], terminationGracePeriod: "0s" },
    metadata: { labels: {} },
    want: "5577420543048680613",
  },
])("a NodePool's hash equals Karpenter's: $name", ({ spec, metadata, want }) => {
  expect(hash(spec ?? {}, metadata)).toBe(want);
});

it("a NodePool's hash ignores requirements and the order of taints", () => {
  const a = { key: "a", effect: "NoSchedule" } as const;
  const b = { key: "b", effect: "NoSchedule" } as const;
  expect(hash({ taints: [a, b] })).toBe(hash({ taints: [b, a], requirements: [{ key: "x", operator: "Exists" }] }));
});

it("a NodePool's hash takes an absent expireAfter as the API's default", () => {
  const spec = { requirements: [], nodeClassRef };
  expect(nodePoolHash({ spec: { template: { spec } } })).toBe("6821555240594823858");
});
