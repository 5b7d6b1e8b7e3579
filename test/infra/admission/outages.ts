import { manifests } from "#infra/manifests.ts";
import { nodePool } from "../crd-samples.ts";
import { ALL_OLD, ALL_V1, type Bench, CLUSTER, eventually, match, NODE_CLAIM_V1, named, OLD, type Step, same, V1 } from "./bench.ts";

/** The function refuses connections. */
export function outage({ host, kubectl, submit }: Bench): readonly Step[] {
  return [
    [
      "v1 is read while the function is away",
      async () => {
        await host.down();
        return match(await kubectl("get", ALL_V1), /default[\s\S]*by-hand[\s\S]*lyon-cluster/);
      },
    ],
    ["v1 is written", async () => match(await submit(named(nodePool({ spec: { weight: 1 } }), "made-alone")), /created/)],
    [
      "schemas still hold",
      async () => match(await submit(named(nodePool({ spec: { weight: 101 } }), "bad")).catch(String), /less than or equal to 100/),
    ],
    [
      "what was applied as v1beta1 is changed as v1",
      async () => {
        const [key, value] = ["away", "1"];
        await kubectl("annotate", V1, "default", `${key}=${value}`);
        await kubectl("patch", V1, "default", "--subresource=status", "--type=merge", "-p", '{"status":{"nodes":2}}');
        return same(await kubectl("get", V1, "default", "-o", "jsonpath={.metadata.annotations.away} {.status.nodes}"), "1 2");
      },
    ],
    [
      "NodeClaims are made, updated and deleted as v1",
      async () => {
        await submit(named(NODE_CLAIM_V1, "alone"));
        await kubectl(
          "patch",
          "nodeclaims.v1.karpenter.sh",
          "alone",
          "--subresource=status",
          "--type=merge",
          "-p",
          '{"status":{"nodeName":"n"}}',
        );
        return match(await kubectl("delete", "nodeclaims.v1.karpenter.sh", "alone"), /deleted/);
      },
    ],
    [
      "v1beta1 says what it lacks",
      async () => match(await kubectl("get", OLD, "default").catch(String), /conversion webhook for karpenter.sh\/v1/),
    ],
    [
      "and is there again with the function",
      async () => {
        await host.up();
        return match(await eventually(() => kubectl("get", ALL_OLD)), /default[\s\S]*by-hand[\s\S]*lyon-cluster/);
      },
    ],
  ];
}

/** The function accepts calls and never answers. */
export function noAnnouncements({ host, kubectl, submit }: Bench): readonly Step[] {
  return [
    [
      "v1 is read while the function takes calls and does not answer",
      async () => {
        host.hang();
        return match(await kubectl("get", ALL_V1), /default[\s\S]*by-hand[\s\S]*lyon-cluster/);
      },
    ],
    [
      "v1 is written, after the webhook's three seconds",
      async () => match(await submit(named(nodePool({ spec: { weight: 2 } }), "made-alone")), /configured/),
    ],
    [
      "status and annotations of v1 do not wait",
      async () => {
        await kubectl("annotate", V1, "made-alone", "a=b");
        await kubectl("patch", V1, "made-alone", "--subresource=status", "--type=merge", "-p", '{"status":{"nodes":2}}');
        await submit(named(NODE_CLAIM_V1, "silent"));
        return match(await kubectl("delete", "nodeclaims.v1.karpenter.sh", "silent"), /deleted/);
      },
    ],
    [
      "what was applied as v1beta1 is changed as v1, though late",
      async () => {
        await kubectl("annotate", V1, "dense", "silent=1");
        return same(await kubectl("get", V1, "dense", "-o", "jsonpath={.metadata.annotations.silent}"), "1");
      },
    ],
    [
      "and all is well again with the function",
      async () => {
        await host.up();
        return match(await eventually(() => kubectl("get", ALL_OLD)), /default[\s\S]*by-hand[\s\S]*lyon-cluster/);
      },
    ],
  ];
}

/** Admission is removed for good. */
export function retreat({ host, kubectl, submit }: Bench): readonly Step[] {
  return [
    [
      "manifests without admission take v1beta1 away again",
      async () => {
        await kubectl("delete", "mutatingwebhookconfiguration,validatingwebhookconfiguration", "karpenter-serverless-admission");
        await kubectl("apply", "-f", "-", { input: manifests({ cluster: CLUSTER }) });
        await host.down();
        return match(
          await eventually(async () => kubectl("get", OLD).then(() => Promise.reject(new Error("still there")), String)),
          /doesn't have a resource type|could not find the requested resource/,
        );
      },
    ],
    ["all objects stay", async () => match(await kubectl("get", ALL_V1), /default[\s\S]*by-hand[\s\S]*lyon-cluster/)],
    [
      "and are changed, applied by the server and deleted",
      async () => {
        await kubectl("patch", V1, "default", "--type=merge", "-p", '{"spec":{"weight":8}}');
        // Until they are removed, the API server wants to convert the managed fields of v1beta1.
        await kubectl("patch", V1, "sided", "--type=json", "-p", '[{"op":"replace","path":"/metadata/managedFields","value":[{}]}]');
        await submit(named(nodePool({ spec: { weight: 9 } }), "sided"), "--server-side", "--force-conflicts");
        await kubectl("delete", V1, "sided", "dense");
        return same(await kubectl("get", V1, "default", "-o", "jsonpath={.spec.weight}"), "8");
      },
    ],
  ];
}
