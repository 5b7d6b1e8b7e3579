import { describe, expect, it } from "vitest";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { Plan } from "#core/model/plan.ts";
import type { PodSpec } from "#core/model/pod.ts";
import { intentFor } from "#core/provisioning/intent.ts";
import { nodeClaimProblem } from "#core/provisioning/writable.ts";
import { schemaProblems } from "#manifests/crd-schema.ts";
import { NOW } from "../support/builders.ts";
import * as objects from "../support/objects.ts";
import { nodePool, planFor, pod } from "../support/scheduling/builders.ts";

const POOL = nodePool();

/** What the plan would write, or why it does not. */
function written(plan: Plan, pool: NodePool = POOL): readonly (readonly string[])[] {
  return plan.newNodeClaims.map((planned) => {
    const facts = { cluster: "c1", id: "0123456789abcdef", name: "default-x7k2p", now: NOW, podUids: [] };
    const { manifest } = intentFor(planned, pool, { ...facts, reason: "provisioned" });
    const problem = nodeClaimProblem(manifest);
    return [...schemaProblems("NodeClaim", manifest).map(({ message }) => message), ...(problem === undefined ? [] : [problem])];
  });
}

const absent = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({ key: `key-${i + from}`, operator: "DoesNotExist" as const }));
const required = (matchExpressions: readonly object[]) =>
  ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } } },
  }) as PodSpec;
const preferred = (matchExpressions: readonly object[]) =>
  ({
    affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: { matchExpressions } }] } },
  }) as PodSpec;

/** A label key has up to 253 characters, a slash and 63. */
const LONGEST_KEY = `${"a.".repeat(126)}b/${"c".repeat(63)}`;

describe("pods whose demand no NodeClaim can hold, beside an ordinary pod", () => {
  it.for([
    { name: "101 labels that must be absent", spec: required(absent(101)), why: /102 labels together, and a NodeClaim takes 96/ },
    {
      name: 'the key "karpenter.sh"',
      spec: required([{ key: "karpenter.sh", operator: "DoesNotExist" }]),
      why: /karpenter\.sh is restricted/,
    },
    { name: "a domain that ends like Karpenter's", spec: { nodeSelector: { "my-karpenter.sh/x": "y" } }, why: /is restricted/ },
    {
      name: "a value of 64 characters",
      spec: required([{ key: "team", operator: "NotIn", values: ["x".repeat(64)] }]),
      why: /team has "x+", which is not a label value/,
    },
    {
      name: "an integer beyond 64 bits",
      spec: required([{ key: "karpenter.k8s.aws/instance-cpu", operator: "Gt", values: ["9".repeat(30)] }]),
      why: /integer from 0 to/,
    },
  ])("$name: the pod is told, and the others get their node", ({ spec, why }) => {
    const plan = planFor({ nodePools: [POOL], pods: [pod("odd", { cpu: "1" }, spec), pod("ordinary", { cpu: "1" })] });
    expect(plan.newNodeClaims.map(({ pods }) => pods)).toEqual([["default/ordinary"]]);
    expect(plan.podErrors).toEqual({ "default/odd": expect.stringMatching(why) });
    expect(written(plan)).toEqual([[]]);
  });

  it("pods that together ask for more labels than a NodeClaim takes get a NodeClaim each", () => {
    const pods = [0, 60].map((from) => pod(`from-${from}`, { cpu: "100m" }, required(absent(60, from))));
    const plan = planFor({ nodePools: [POOL], pods });
    expect(plan.podErrors).toEqual({});
    expect(written(plan)).toEqual([[], []]);
  });

  it("a NodePool whose own requirements no NodeClaim can hold leaves its pods to a lighter one", () => {
    const { template } = POOL.spec;
    const requirements = [...template.spec.requirements, ...absent(99)];
    const heavy: NodePool = {
      ...POOL,
      metadata: { ...POOL.metadata, name: "heavy" },
      spec: { ...POOL.spec, weight: 100, template: { ...template, spec: { ...template.spec, requirements } } },
    };
    const pods = [pod("ordinary", { cpu: "1" })];
    const both = planFor({ nodePools: [heavy, POOL], pods });
    expect(both.podErrors).toEqual({});
    expect(both.newNodeClaims.map(({ nodePool }) => nodePool)).toEqual([POOL.metadata.name]);
    expect(planFor({ nodePools: [heavy], pods }).podErrors).toEqual({
      "default/ordinary": expect.stringMatching(
        /NodePool heavy: it has \d+ labels and requirements .* a NodeClaim takes 96 beside its own; remove \d/,
      ),
    });
  });

  it.for([
    { name: "a restricted key", item: { key: "karpenter.sh/registered", operator: "DoesNotExist" } },
    { name: "a key as long as a label's may be", item: { key: LONGEST_KEY, operator: "DoesNotExist" } },
    { name: "a value that is no label value", item: { key: "team", operator: "NotIn", values: ["-"] } },
  ])("a preference that no NodeClaim can hold is given up: $name", ({ item }) => {
    const plan = planFor({ nodePools: [POOL], pods: [pod("odd", { cpu: "1" }, preferred([item]))] });
    expect(plan.podErrors).toEqual({});
    expect(written(plan)).toEqual([[]]);
  });
});

const claim = (change: Partial<NodeClaim["spec"]> & { readonly metadata?: Partial<NodeClaim["metadata"]> }): NodeClaim => {
  const { metadata, ...spec } = change;
  return { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", ...objects.nodeClaim("c", { uid: "u", ...(metadata && { metadata }), spec }) };
};
const item = (more: object) => [{ key: "team", operator: "In", values: ["a"], ...more }] as unknown as NodeClaim["spec"]["requirements"];

describe("the check of a NodeClaim before it is written", () => {
  it.for([
    { name: "an ordinary one", change: { requirements: item({}) }, refused: false },
    { name: "100 requirements", change: { requirements: absent(100) }, refused: false },
    { name: "101 requirements", change: { requirements: absent(101) }, refused: true },
    { name: "a key in capitals before the slash", change: { requirements: item({ key: "A.b/x" }) }, refused: true },
    { name: "a key with two dots", change: { requirements: item({ key: "a..b/x" }) }, refused: true },
    { name: "a key of 317 characters, which is one of a label", change: { requirements: item({ key: LONGEST_KEY }) }, refused: true },
    { name: "a key of 316 characters", change: { requirements: item({ key: LONGEST_KEY.slice(0, -1) }) }, refused: false },
    { name: "a value with a blank", change: { requirements: item({ values: ["a b"] }) }, refused: true },
    { name: "minValues of 51", change: { requirements: item({ operator: "Exists", values: [], minValues: 51 }) }, refused: true },
    { name: "a taint without a known effect", change: { taints: [{ key: "a", effect: "Never" as "NoSchedule" }] }, refused: true },
    { name: "a taint with a value", change: { taints: [{ key: "a", value: "b", effect: "NoSchedule" as const }] }, refused: false },
    { name: "a time in days", change: { expireAfter: "30d" }, refused: true },
    { name: "a time without an end", change: { expireAfter: "Never" }, refused: false },
  ])("the CRD and the check agree on $name", ({ change, refused }) => {
    expect(schemaProblems("NodeClaim", claim(change)).length > 0).toBe(refused);
    expect(nodeClaimProblem(claim(change)) !== undefined).toBe(refused);
  });

  it.for([
    { name: "a restricted key", change: { requirements: item({ key: "karpenter.sh/x" }) } },
    { name: "In without values", change: { requirements: item({ values: [] }) } },
    { name: "fewer values than minValues", change: { requirements: item({ minValues: 2 }) } },
    { name: "a bound that is no integer", change: { requirements: item({ operator: "Gte", values: ["x"] }) } },
    { name: "a label of 64 characters", change: { metadata: { labels: { team: "x".repeat(64) } } } },
    { name: "an annotation with a blank in its key", change: { metadata: { annotations: { "a b": "" } } } },
    { name: "annotations of more than 256 KiB", change: { metadata: { annotations: { a: "ü".repeat(128 * 1024) } } } },
  ])("refused by rules beside the schema: $name", ({ change }) => {
    expect(nodeClaimProblem(claim(change))).toEqual(expect.any(String));
  });
});
