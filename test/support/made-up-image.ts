/**
 * Manifests of a NodePool whose nodes never register: the user data of a Custom image are used as they are, and these
 * are empty.
 */
export const MADE_UP = `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: { name: made-up }
spec:
  role: node
  subnetSelectorTerms: [{ tags: { a: b } }]
  securityGroupSelectorTerms: [{ tags: { a: b } }]
  amiSelectorTerms: [{ id: ami-0123456789abcdef0 }]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: made-up }
spec:
  template:
    spec:
      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: made-up }
      requirements: [{ key: node.kubernetes.io/instance-type, operator: In, values: [m5.large] }]
---
`;
