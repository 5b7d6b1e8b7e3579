import { expect, it } from "vitest";
import { isOthersNode, isServed } from "#core/model/managed.ts";

it.for([
  { name: "an EC2NodeClass", ref: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "a" }, served: true },
  { name: "EKS Auto Mode's NodeClass", ref: { group: "eks.amazonaws.com", kind: "NodeClass", name: "a" }, served: false },
  { name: "another kind of our group", ref: { group: "karpenter.k8s.aws", kind: "NodeClass", name: "a" }, served: false },
  { name: "another group's EC2NodeClass", ref: { group: "eks.amazonaws.com", kind: "EC2NodeClass", name: "a" }, served: false },
  { name: "no reference", ref: undefined, served: true },
])("a NodeClaim that references $name is served: $served", ({ ref, served }) => {
  expect(isServed(ref)).toBe(served);
});

it.for([
  { name: "a node of Auto Mode", labels: { "eks.amazonaws.com/nodeclass": "default" }, others: true },
  { name: "a node of Karpenter's kwok provider", labels: { "karpenter.kwok.sh/kwoknodeclass": "default" }, others: true },
  { name: "our node", labels: { "karpenter.k8s.aws/ec2nodeclass": "default" }, others: false },
  { name: "our node with a label of a user", labels: { "karpenter.k8s.aws/ec2nodeclass": "a", "my/nodeclass": "b" }, others: false },
  { name: "a node of a managed node group", labels: { "eks.amazonaws.com/nodegroup": "a" }, others: false },
  { name: "a node without labels", labels: {}, others: false },
])("$name belongs to another controller: $others", ({ labels, others }) => {
  expect(isOthersNode({ metadata: { name: "n", labels } })).toBe(others);
});
