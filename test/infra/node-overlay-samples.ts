import type { Sample } from "./crd-samples.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A NodeOverlay; a field given as undefined is left out. */
export function nodeOverlay(spec: Fields): object {
  return { apiVersion: "karpenter.sh/v1alpha1", kind: "NodeOverlay", metadata: { name: "sample" }, spec: { requirements: [], ...spec } };
}

const requiring = (requirement: Fields): object => nodeOverlay({ requirements: [requirement] });

const adjustment = (priceAdjustment: string, refused?: string): Sample => ({
  name: `an adjustment of ${priceAdjustment}`,
  object: nodeOverlay({ priceAdjustment }),
  ...(refused !== undefined && { refused }),
});

export const NODE_OVERLAY_SAMPLES: readonly Sample[] = [
  { name: "an overlay of nothing", object: nodeOverlay({}) },
  {
    name: "an overlay as in Karpenter's documentation",
    object: nodeOverlay({
      requirements: [
        { key: "karpenter.sh/capacity-type", operator: "In", values: ["spot"] },
        { key: "karpenter.k8s.aws/instance-family", operator: "NotIn", values: ["t3"] },
        { key: "karpenter.k8s.aws/instance-cpu", operator: "Gt", values: ["8"] },
        { key: "karpenter.sh/nodepool", operator: "In", values: ["default"] },
        { key: "team", operator: "Exists" },
      ],
      priceAdjustment: "-10%",
      capacity: { "smarter-devices/fuse": 1, "hugepages-2Mi": "100Mi" },
      weight: 10_000,
    }),
  },
  { name: "an overlay without requirements", object: nodeOverlay({ requirements: undefined }), refused: "requirements: Required" },
  { name: "an overlay: In without values", object: requiring({ key: "a", operator: "In" }), refused: "In needs at least one value" },
  { name: "an overlay: NotIn of nothing", object: requiring({ key: "a", operator: "NotIn", values: [] }), refused: "NotIn needs at least" },
  { name: "an overlay: Gt of a word", object: requiring({ key: "a", operator: "Gt", values: ["x"] }), refused: "exactly one value" },
  { name: "an overlay: Lte of two", object: requiring({ key: "a", operator: "Lte", values: ["1", "2"] }), refused: "exactly one value" },
  { name: "an overlay: an unknown operator", object: requiring({ key: "a", operator: "Like" }), refused: "Unsupported value" },
  { name: "an overlay with minValues", object: requiring({ key: "a", operator: "Exists", minValues: 2 }), refused: "unknown field" },
  { name: "an overlay on the host name", object: requiring({ key: "kubernetes.io/hostname", operator: "Exists" }), refused: "kubelet" },
  {
    name: "an overlay on karpenter.sh",
    object: requiring({ key: "karpenter.sh/x", operator: "Exists" }),
    refused: "karpenter.sh is restricted",
  },
  {
    name: "an overlay on an unknown AWS label",
    object: requiring({ key: "karpenter.k8s.aws/instance-pods", operator: "Exists" }),
    refused: "karpenter.k8s.aws is restricted",
  },
  { name: "an overlay on no key", object: requiring({ key: "a//b", operator: "Exists" }), refused: "should match" },
  { name: "a price", object: nodeOverlay({ price: "0.125" }) },
  { name: "a price as a number", object: nodeOverlay({ price: 0.125 }), refused: "must be of type string" },
  { name: "a signed price", object: nodeOverlay({ price: "-1" }), refused: "should match" },
  { name: "a price and an adjustment", object: nodeOverlay({ price: "1", priceAdjustment: "+1" }), refused: "only one of 'price'" },
  ...["+1.2", "-0.5", "+.5", "+10%", "-15%", "-99.9%", "-100%", "+250.5%"].map((text) => adjustment(text)),
  ...["1", "10%", "-101%", "-100.1%", "+ten", "+1.%x"].map((text) => adjustment(text, "should match")),
  { name: "capacity of cpu", object: nodeOverlay({ capacity: { cpu: "1" } }), refused: "only extended resources" },
  { name: "capacity of pods", object: nodeOverlay({ capacity: { pods: 200 } }), refused: "only extended resources" },
  { name: "capacity that is no quantity", object: nodeOverlay({ capacity: { "a.b/c": "many" } }), refused: "should match" },
  { name: "an overlay of weight 0", object: nodeOverlay({ weight: 0 }), refused: "greater than or equal to 1" },
  { name: "an overlay of weight 10001", object: nodeOverlay({ weight: 10_001 }), refused: "less than or equal to 10000" },
];
