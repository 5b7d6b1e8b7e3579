import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { nodePool } from "../crd-samples.ts";
import { type Bench, type Fields, match, named, OLD, type Step, same, V1 } from "./bench.ts";
import { NODE_CLAIM, NODE_CLASS, POOL_WITH_KUBELET, PUBLISHED_NODE_POOL } from "./v1beta1-samples.ts";

/** A cluster that is migrated from Karpenter before 1.0. */
export function stored({ kubectl }: Bench): readonly Step[] {
  return [
    [
      "a NodePool that older Karpenter stored as v1beta1 reads as v1",
      async () => same(await kubectl("get", V1, "stored", "-o", "jsonpath={.spec.template.spec.expireAfter}"), "Never"),
    ],
    [
      "v1beta1 cannot be taken away while it may be stored",
      async () => match(await kubectl("apply", "--dry-run=server", "-f", NODE_POOL_CRD).catch(String), /storedVersions.*v1beta1/s),
    ],
    [
      "but when all is written anew",
      async () => {
        await kubectl("replace", "-f", "-", { input: await kubectl("get", V1, "-o", "json") });
        const only = '{"status":{"storedVersions":["v1"]}}';
        await kubectl("patch", "crd", "nodepools.karpenter.sh", "--subresource=status", "--type=merge", "-p", only);
        await kubectl("apply", "--dry-run=server", "-f", NODE_POOL_CRD);
        return same(await kubectl("get", OLD, "stored", "-o", "jsonpath={.spec.disruption.expireAfter}"), "Never");
      },
    ],
  ];
}

/** Both versions, written and read. */
export function versions({ kubectl, submit, specOf }: Bench): readonly Step[] {
  return [
    ["the published v1beta1 NodePool is applied", async () => match(await submit(PUBLISHED_NODE_POOL), /created/)],
    ["and again, which changes nothing", async () => match(await submit(PUBLISHED_NODE_POOL), /unchanged/)],
    [
      "it reads as v1",
      async () =>
        same(await specOf(V1, "default"), {
          disruption: { budgets: [{ nodes: "10%" }], consolidateAfter: "0s", consolidationPolicy: "WhenEmptyOrUnderutilized" },
          template: {
            metadata: {},
            spec: {
              expireAfter: "Never",
              nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "lyon-cluster" },
              requirements: [
                { key: "karpenter.k8s.aws/instance-family", operator: "In", values: ["t3", "t3a"] },
                { key: "karpenter.k8s.aws/instance-size", operator: "In", values: ["medium", "large"] },
                { key: "topology.kubernetes.io/zone", operator: "In", values: ["ap-northeast-2a", "ap-northeast-2c"] },
                { key: "eks.amazonaws.com/nodegroup", operator: "In", values: ["default"] },
              ],
              taints: [{ effect: "NoSchedule", key: "system-type", value: "default" }],
            },
          },
          weight: 10,
        }),
    ],
    [
      "and as v1beta1, as it was written",
      async () => {
        const spec = (await specOf(OLD, "default")) as { readonly disruption: unknown; readonly template: { readonly spec: Fields } };
        const disruption = { budgets: [{ nodes: "10%" }], consolidationPolicy: "WhenUnderutilized", expireAfter: "Never" };
        return same(spec.disruption, disruption) ?? same(spec.template.spec["nodeClassRef"], { name: "lyon-cluster" });
      },
    ],
    ["a v1beta1 EC2NodeClass is applied", async () => match(await submit(NODE_CLASS), /created/)],
    [
      "it reads as v1, with an alias and the metadata options of its time",
      async () => {
        const spec = (await specOf("ec2nodeclasses.v1.karpenter.k8s.aws", "lyon-cluster")) as Fields;
        const options = { httpEndpoint: "enabled", httpProtocolIPv6: "disabled", httpPutResponseHopLimit: 2, httpTokens: "required" };
        return same(spec["amiSelectorTerms"], [{ alias: "al2@latest" }]) ?? same(spec["metadataOptions"], options);
      },
    ],
    [
      "a v1beta1 NodeClaim is applied, and reads as v1",
      async () => {
        await submit(NODE_CLAIM);
        const ref = ((await specOf("nodeclaims.v1.karpenter.sh", "by-hand")) as Fields)["nodeClassRef"];
        return same(ref, { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "lyon-cluster" });
      },
    ],
    [
      "kubelet settings of a v1beta1 NodePool are kept, and warned of",
      async () => {
        const said = await submit(POOL_WITH_KUBELET, "--warnings-as-errors").catch(String);
        const spec = (await specOf(OLD, "dense")) as { readonly template: { readonly spec: Fields } };
        return (
          match(said, /kubelet of v1beta1 has no effect in v1/) ??
          match(said, /is deprecated/) ??
          same(spec.template.spec["kubelet"], { maxPods: 20 })
        );
      },
    ],
    [
      "an edit of v1beta1 is seen in v1",
      async () => {
        await kubectl("patch", OLD, "default", "--type=merge", "-p", '{"spec":{"disruption":{"expireAfter":"48h"}}}');
        return same(await kubectl("get", V1, "default", "-o", "jsonpath={.spec.template.spec.expireAfter}"), "48h");
      },
    ],
    [
      "an edit of v1 is seen in v1beta1",
      async () => {
        await kubectl("patch", V1, "default", "--type=merge", "-p", '{"spec":{"weight":7}}');
        return same(await kubectl("get", OLD, "default", "-o", "jsonpath={.spec.weight}"), "7");
      },
    ],
    [
      "what only v1 has outlives an edit of v1beta1",
      async () => {
        await kubectl("patch", V1, "dense", "--type=merge", "-p", '{"spec":{"template":{"spec":{"terminationGracePeriod":"1h"}}}}');
        await kubectl("patch", OLD, "dense", "--type=merge", "-p", '{"spec":{"weight":3}}');
        return same(
          await kubectl("get", V1, "dense", "-o", "jsonpath={.spec.template.spec.terminationGracePeriod} {.spec.weight}"),
          "1h 3",
        );
      },
    ],
    [
      "both versions are applied by the server",
      async () => {
        const name = "sided";
        await submit(PUBLISHED_NODE_POOL.replace("name: default", `name: ${name}`), "--server-side");
        const answer = await submit(
          named(nodePool({ spec: { weight: 4 } }), name),
          "--server-side",
          "--force-conflicts",
          "--field-manager=other",
        );
        return match(answer, /serverside-applied/) ?? same(await kubectl("get", OLD, name, "-o", "jsonpath={.spec.weight}"), "4");
      },
    ],
    ["v1beta1 has its columns", async () => match(await kubectl("get", OLD), /^NAME +NODECLASS/)],
    [
      "kubectl shows v1 when nobody says which",
      async () => match(await kubectl("get", "nodepool", "default", "-o", "jsonpath={.apiVersion}"), /^karpenter.sh\/v1$/),
    ],
  ];
}

const NODE_POOL_CRD = join(import.meta.dirname, "..", "..", "..", "infra", "crds", "karpenter.sh_nodepools.yaml");

/** The CRD as Karpenter before 1.0 had it: v1beta1 is what is stored. */
export function oldNodePoolCrd(): string {
  const crd = parse(readFileSync(NODE_POOL_CRD, "utf8")) as { readonly spec: Fields };
  const version = parse(readFileSync(NODE_POOL_CRD.replace("crds", "crds-v1beta1"), "utf8")) as Fields;
  return JSON.stringify({ ...crd, spec: { ...crd.spec, versions: [{ ...version, storage: true }] } });
}
