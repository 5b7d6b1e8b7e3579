import { describe, expect, it } from "vitest";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { NodeClaimTemplateSpec, NodePool } from "#core/model/node-pool.ts";
import { nodePoolStatus } from "#core/node-pool/status.ts";
import { nodePoolProblems } from "#core/node-pool/validate.ts";

const NOW = Date.parse("2026-11-21T00:00:00Z");
const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };

function pool(spec: Partial<NodeClaimTemplateSpec> = {}, labels?: Readonly<Record<string, string>>): NodePool {
  return {
    metadata: { name: "default", generation: 1 },
    spec: { template: { spec: { requirements: [], nodeClassRef, ...spec }, ...(labels && { metadata: { labels } }) } },
  };
}

function nodeClass(ready: "True" | "False" | "Unknown" | undefined, deletionTimestamp?: string): EC2NodeClass {
  return {
    metadata: { name: "default", ...(deletionTimestamp && { deletionTimestamp }) },
    spec: { subnetSelectorTerms: [], securityGroupSelectorTerms: [], amiSelectorTerms: [] },
    status: { conditions: ready ? [{ type: "Ready", status: ready, reason: "R", message: "M" }] : [] },
  };
}

function claim(name: string, more: Partial<NodeClaim["status"]> = {}, deletionTimestamp?: string): NodeClaim {
  return {
    metadata: { name, labels: { "karpenter.sh/nodepool": "default" }, ...(deletionTimestamp && { deletionTimestamp }) },
    spec: { requirements: [], nodeClassRef },
    status: { providerID: `aws:///z/${name}`, capacity: { cpu: "2", memory: "4Gi", "nvidia.com/gpu": "1" }, ...more },
  };
}

function node(name: string, capacity: Readonly<Record<string, string>>): Node {
  return { metadata: { name }, spec: { providerID: `aws:///z/${name}` }, status: { capacity } };
}

const context = { nodeClass: nodeClass("True"), nodeClaims: [], nodes: [], now: NOW };

describe("nodePoolStatus", () => {
  it.for([
    { name: "no NodeClass", of: undefined, want: "False NodeClassNotFound" },
    { name: "a NodeClass that is being deleted", of: nodeClass("True", "2026-01-01T00:00:00Z"), want: "False NodeClassTerminating" },
    { name: "a NodeClass that is not ready", of: nodeClass("False"), want: "False R" },
    { name: "a NodeClass without a status", of: nodeClass(undefined), want: "False NodeClassReadinessUnknown" },
    { name: "a ready NodeClass", of: nodeClass("True"), want: "True NodeClassReady" },
  ])("a NodePool's status follows its NodeClass: $name", ({ of, want }) => {
    const { conditions = [] } = nodePoolStatus(pool(), { ...context, nodeClass: of });
    const verdicts = Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]));
    expect(verdicts["NodeClassReady"]).toBe(want);
    expect(verdicts["Ready"]).toBe(want.startsWith("True") ? "True Ready" : "False UnhealthyDependents");
  });

  it("a NodePool names the EC2NodeClass that is not ready, the condition at fault and its message", () => {
    const message = "there are no AL2 images for Kubernetes 1.33 and later, and the cluster runs 1.36; use al2023@latest";
    const amis = { type: "AMIsReady", status: "False" as const, reason: "UnsupportedAlias", message };
    const old = nodeClass("False");
    const of = { ...old, status: { conditions: [amis, ...(old.status?.conditions ?? [])] } };
    const { conditions } = nodePoolStatus(pool(), { ...context, nodeClass: of });
    expect(conditions?.find(({ type }) => type === "NodeClassReady")).toMatchObject({
      reason: "R",
      message: `EC2NodeClass default is not ready (AMIsReady): ${message}`,
    });
  });

  it("a NodePool's resources are those of its nodes, and of NodeClaims for what nodes do not report yet", () => {
    const initialized = { conditions: [{ type: "Initialized", status: "True" as const }] };
    const nodeClaims = [claim("a", initialized), claim("b"), claim("c"), claim("gone", {}, "2026-01-01T00:00:00Z")];
    const nodes = [node("a", { cpu: "3", memory: "5Gi" }), node("b", { cpu: "3", memory: "0" }), node("stranger", { cpu: "64" })];
    const { resources, nodes: count } = nodePoolStatus(pool(), { ...context, nodeClaims, nodes });
    expect(resources).toEqual({ cpu: "8", memory: "13Gi", pods: "0", "ephemeral-storage": "0", nodes: "3", "nvidia.com/gpu": "2" });
    expect(count).toBe(3);
  });

  it("a NodePool's status is unchanged when nothing has changed", () => {
    const status = nodePoolStatus(pool(), context);
    expect(nodePoolStatus({ ...pool(), status }, { ...context, now: NOW + 60_000 })).toEqual(status);
  });
});

describe("nodePoolProblems", () => {
  it.for<{ name: string; spec?: Partial<NodeClaimTemplateSpec>; labels?: Record<string, string>; want: RegExp | undefined }>([
    { name: "no problem", want: undefined },
    { name: "a label of its own", labels: { "example.com/team": "a" }, want: undefined },
    { name: "a restricted label", labels: { "karpenter.sh/mine": "a" }, want: /karpenter\.sh\/mine is restricted/ },
    { name: "a bad label value", labels: { a: "not ok" }, want: /a="not ok" is not a label value/ },
    { name: "a bad taint", spec: { taints: [{ key: "a b", effect: "NoSchedule" }] }, want: /taint a b has a key/ },
    {
      name: "a taint given twice",
      spec: { taints: [{ key: "a", effect: "NoSchedule" }], startupTaints: [{ key: "a", value: "x", effect: "NoSchedule" }] },
      want: /a:NoSchedule is given twice/,
    },
    {
      name: "a requirement on its own name",
      spec: { requirements: [{ key: "karpenter.sh/nodepool", operator: "Exists" }] },
      want: /set by the system/,
    },
    { name: "an empty In", spec: { requirements: [{ key: "a", operator: "In", values: [] }] }, want: /at least one value/ },
  ])("nodePoolProblems finds $name", ({ spec, labels, want }) => {
    const text = nodePoolProblems(pool(spec, labels)).join("; ");
    if (want === undefined) expect(text).toBe("");
    else expect(text).toMatch(want);
  });
});
