import { expect, it } from "vitest";
import { boundPod, daemonSet, instanceType, nodeWithClaim, pod, type Scenario, scenario } from "./builders.ts";
import { brokenRules } from "./check-plan.ts";
import type { RawJson } from "./judge-rules.ts";

const { node, claim } = nodeWithClaim("n");
const onNode = { newNodeClaims: [], existingNodes: [{ name: "n", pods: ["default/p"] }], podErrors: {} };
const onClaim = (requirements: readonly object[] = []) => ({
  newNodeClaims: [{ nodePool: "default", requirements, instanceTypes: ["m.small"], pods: ["default/p"] }],
  existingNodes: [],
  podErrors: {},
});

const volumes = (claimName: string) => ({ volumes: [{ name: "data", persistentVolumeClaim: { claimName } }] });
const volume = (name: string, driver: string) => ({
  persistentVolumes: [{ metadata: { name }, spec: { csi: { driver } } }],
  persistentVolumeClaims: [{ metadata: { name, namespace: "default" }, spec: { volumeName: name } }],
});
const [ebs, efs] = [volume("disk", "ebs.csi.aws.com"), volume("share", "efs.csi.aws.com")];
const withDisks = {
  persistentVolumes: [...ebs.persistentVolumes, ...efs.persistentVolumes],
  persistentVolumeClaims: [...ebs.persistentVolumeClaims, ...efs.persistentVolumeClaims],
  csiNodes: [{ metadata: { name: "n" }, spec: { drivers: [{ name: "ebs.csi.aws.com", nodeID: "n", allocatable: { count: 1 } }] } }],
};
const used = boundPod("used", "n", {}, volumes("disk"));

const reserved = instanceType("m.small", 2, 8, {
  offerings: [
    {
      zone: "zone-a",
      capacityType: "reserved",
      price: 0,
      available: true,
      reservationId: "cr-1",
      reservationCapacity: 1,
      reservationType: "default",
      reservationInterruptible: false,
    },
  ],
});
const wants = (type: string) => pod("p", { cpu: "1" }, { nodeSelector: { "karpenter.k8s.aws/capacity-reservation-type": type } });

const agent = daemonSet("agent", { cpu: "100m" });
const agentPod = boundPod(
  "agent-1",
  "elsewhere",
  { cpu: "1500m" },
  {},
  {
    ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "agent", uid: agent.metadata.uid ?? "", controller: true }],
  },
);

it.for<{ name: string; parts: Partial<Scenario>; plan?: RawJson; broken: boolean }>([
  {
    name: "volumes of another driver do not count against the limit of a driver",
    parts: { ...withDisks, pods: [used, pod("p", {}, volumes("share"))] },
    broken: false,
  },
  {
    name: "volumes of one driver count against its limit",
    parts: {
      ...withDisks,
      persistentVolumes: [...withDisks.persistentVolumes, ...volume("more", "ebs.csi.aws.com").persistentVolumes],
      persistentVolumeClaims: [...withDisks.persistentVolumeClaims, ...volume("more", "ebs.csi.aws.com").persistentVolumeClaims],
      pods: [used, pod("p", {}, volumes("more"))],
    },
    broken: true,
  },
  {
    name: "a reserved offering carries the type of its reservation",
    parts: { instanceTypes: [reserved], pods: [wants("default")] },
    plan: onClaim(),
    broken: false,
  },
  {
    name: "a pod that selects capacity blocks does not run in a default reservation",
    parts: { instanceTypes: [reserved], pods: [wants("capacity-block")] },
    plan: onClaim(),
    broken: true,
  },
  {
    name: "a DaemonSet without pods takes what its template requests",
    parts: { daemonSets: [agent], pods: [pod("p")] },
    plan: onClaim(),
    broken: false,
  },
  {
    name: "a DaemonSet takes what its newest pod requests",
    parts: { daemonSets: [agent], pods: [pod("p"), agentPod] },
    plan: onClaim(),
    broken: true,
  },
  {
    name: "a node is full while a pod that shrinks still runs with its cpu",
    parts: {
      pods: [
        pod("p"),
        {
          ...boundPod("shrinking", "n", { cpu: "100m" }),
          status: { phase: "Running", containerStatuses: [{ name: "main", resources: { requests: { cpu: "3500m" } } }] },
        },
      ],
    },
    broken: true,
  },
])("the judge knows that $name", ({ parts, plan = onNode, broken }) => {
  const rules = brokenRules(scenario({ nodes: [node], nodeClaims: [claim], ...parts }) as RawJson, plan);
  expect(rules.length > 0, rules.join("; ")).toBe(broken);
});
