// Manifests of v1beta1 as users have them in their repositories.

/** From a public kustomization for EKS, as published. */
export const PUBLISHED_NODE_POOL = `
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata:
  name: default
spec:
  disruption:
    consolidationPolicy: WhenUnderutilized
    expireAfter: Never
  template:
    metadata: {}
    spec:
      nodeClassRef:
        name: lyon-cluster
      requirements:
        - key: karpenter.k8s.aws/instance-family
          operator: In
          values:
            - t3
            - t3a
        - key: karpenter.k8s.aws/instance-size
          operator: In
          values:
            - medium
            - large
        - key: topology.kubernetes.io/zone
          operator: In
          values:
            - ap-northeast-2a
            - ap-northeast-2c
        - key: eks.amazonaws.com/nodegroup
          operator: In
          values:
            - default
      taints:
        - effect: NoSchedule
          key: system-type
          value: default
  weight: 10
`;

/** The EC2NodeClass that this NodePool names, in the style of its time. */
export const NODE_CLASS = `
apiVersion: karpenter.k8s.aws/v1beta1
kind: EC2NodeClass
metadata:
  name: lyon-cluster
spec:
  amiFamily: AL2
  role: KarpenterNodeRole-lyon-cluster
  subnetSelectorTerms:
    - tags:
        karpenter.sh/discovery: lyon-cluster
  securityGroupSelectorTerms:
    - tags:
        karpenter.sh/discovery: lyon-cluster
`;

/** A NodePool with kubelet settings, which v1 has on the EC2NodeClass. */
export const POOL_WITH_KUBELET = `
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata:
  name: dense
spec:
  disruption:
    consolidationPolicy: WhenEmpty
    consolidateAfter: 30s
  template:
    spec:
      kubelet:
        maxPods: 20
      nodeClassRef:
        apiVersion: karpenter.k8s.aws/v1beta1
        kind: EC2NodeClass
        name: lyon-cluster
      requirements: []
`;

export const NODE_CLAIM = `
apiVersion: karpenter.sh/v1beta1
kind: NodeClaim
metadata:
  name: by-hand
spec:
  nodeClassRef:
    name: lyon-cluster
  requirements:
    - key: karpenter.sh/capacity-type
      operator: In
      values: [on-demand]
`;
