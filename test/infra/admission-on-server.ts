import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { manifests } from "../../infra/manifests.ts";
import { startCluster, type TestCluster } from "../e2e/support/cluster.ts";
import { type AdmissionHost, startAdmissionHost } from "./admission-host.ts";
import { nodeClass, nodePool } from "./crd-samples.ts";
import { NODE_CLAIM, NODE_CLASS, POOL_WITH_KUBELET, PUBLISHED_NODE_POOL } from "./v1beta1-samples.ts";

/**
 * Installs the manifests with the admission function's bundle behind them in a real API server, writes and reads both versions, and takes the function
 * away: `node test/infra/admission-on-server.ts`. Prints one line a step and "N passed, N failed"; exits 1 when one failed.
 */

const CLUSTER = "c1";
const TOKEN = "0123456789abcdef0123";

type Fields = Readonly<Record<string, unknown>>;

/** Undefined when all is well, else what is wrong. */
type Step = readonly [name: string, act: () => Promise<string | undefined>];

function steps(cluster: TestCluster, host: AdmissionHost): readonly Step[] {
  const kubectl = async (...args: readonly string[]): Promise<string> => cluster.kubectl(...args);
  const submit = async (object: string | object, ...args: readonly string[]): Promise<string> =>
    cluster.kubectl("apply", ...args, "-f", "-", { input: typeof object === "string" ? object : JSON.stringify(object) });
  const read = async (kind: string, name: string): Promise<Fields> => JSON.parse(await kubectl("get", kind, name, "-o", "json")) as Fields;
  const specOf = async (kind: string, name: string): Promise<unknown> => (await read(kind, name))["spec"];
  const V1 = "nodepools.v1.karpenter.sh";
  const OLD = "nodepools.v1beta1.karpenter.sh";
  const ALL_V1 = `${V1},nodeclaims.v1.karpenter.sh,ec2nodeclasses.v1.karpenter.k8s.aws`;
  const ALL_OLD = `${OLD},nodeclaims.v1beta1.karpenter.sh,ec2nodeclasses.v1beta1.karpenter.k8s.aws`;
  const named = (object: object, name: string): object => ({ ...object, metadata: { name } });

  const versions: readonly Step[] = [
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

  const verdicts: readonly Step[] = [
    [
      "a disruption block without consolidateAfter is completed",
      async () => {
        await submit(named(nodePool({ spec: { disruption: { consolidationPolicy: "WhenEmpty" } } }), "defaulted"));
        return same(await kubectl("get", V1, "defaulted", "-o", "jsonpath={.spec.disruption.consolidateAfter}"), "0s");
      },
    ],
    [
      "what lacks nothing is not sent to be completed",
      async () => {
        host.calls();
        await submit(named(nodePool({ spec: { disruption: { consolidateAfter: "1m" } } }), "whole"));
        await submit(named(nodeClass({}), "whole"));
        return same(host.calls()["default"] ?? 0, 0);
      },
    ],
    ...REFUSED.map(
      ([name, object, says]): Step => [
        `refused: ${name}`,
        async () => {
          const said = await submit(object, "--dry-run=server").catch(String);
          return match(said, /denied the request: /) ?? match(said, says);
        },
      ],
    ),
    [
      "our own writes of status and annotations are not judged",
      async () => {
        host.calls();
        await kubectl("patch", V1, "whole", "--subresource=status", "--type=merge", "-p", '{"status":{"nodes":1}}');
        await kubectl("annotate", V1, "whole", "karpenter.sh/nodepool-hash=1");
        const { validate = 0, default: defaulted = 0 } = host.calls();
        return same([validate, defaulted], [0, 0]);
      },
    ],
    [
      "a NodeClaim is made and ended without being judged",
      async () => {
        host.calls();
        await submit(named(NODE_CLAIM_V1, "machine"));
        await kubectl("delete", "nodeclaims.v1.karpenter.sh", "machine");
        await sleep(500);
        const { validate = 0, default: defaulted = 0, convert = 0 } = host.calls();
        console.log(`     (its write and its deletion were converted for watchers of v1beta1 ${convert} times)`);
        return same([validate, defaulted], [0, 0]);
      },
    ],
  ];

  const outage: readonly Step[] = [
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

  const silence: readonly Step[] = [
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

  const retreat: readonly Step[] = [
    [
      "manifests without admission take v1beta1 away again",
      async () => {
        await cluster.kubectl("delete", "mutatingwebhookconfiguration,validatingwebhookconfiguration", "karpenter-serverless-admission");
        await cluster.kubectl("apply", "-f", "-", { input: manifests({ cluster: CLUSTER }) });
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
        // Until they are forgotten, the API server wants the fields of v1beta1's managers converted.
        await kubectl("patch", V1, "sided", "--type=json", "-p", '[{"op":"replace","path":"/metadata/managedFields","value":[{}]}]');
        await submit(named(nodePool({ spec: { weight: 9 } }), "sided"), "--server-side", "--force-conflicts");
        await kubectl("delete", V1, "sided", "dense");
        return same(await kubectl("get", V1, "default", "-o", "jsonpath={.spec.weight}"), "8");
      },
    ],
  ];
  return [...versions, ...verdicts, ...outage, ...silence, ...retreat];
}

const NODE_CLAIM_V1 = {
  apiVersion: "karpenter.sh/v1",
  kind: "NodeClaim",
  metadata: { name: "machine" },
  spec: { requirements: [], nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" } },
};

const badBudget = { disruption: { consolidateAfter: "0s", budgets: [{ nodes: "1", schedule: "61 * * * *", duration: "1h" }] } };

/** Objects that no schema can refuse, and part of what is said of them. */
const REFUSED: readonly (readonly [name: string, object: object | string, says: RegExp])[] = [
  ["a schedule that is none", nodePool({ spec: badBudget }), /budgets\[0\]\.schedule: "61 \* \* \* \*" is no cron expression/],
  [
    "the same written as v1beta1",
    PUBLISHED_NODE_POOL.replace(
      "    expireAfter: Never",
      '    expireAfter: Never\n    budgets: [{ nodes: "1", schedule: "61 * * * *", duration: 1h }]',
    ),
    /is no cron expression/,
  ],
  [
    "one taint twice",
    nodePool({ template: { taints: [{ key: "a", effect: "NoSchedule" }], startupTaints: [{ key: "a", effect: "NoSchedule" }] } }),
    /taint a:NoSchedule is given twice/,
  ],
  ["a role's ARN", nodeClass({ role: "arn:aws:iam::111122223333:role/nodes" }), /write nodes in place of the ARN/],
  ["a disk twice", nodeClass({ blockDeviceMappings: [disk(), disk()] }), /\/dev\/xvda is mapped twice/],
  [
    "a shell script for Bottlerocket",
    nodeClass({ amiSelectorTerms: [{ alias: "bottlerocket@latest" }], userData: "#!/bin/bash\necho hello" }),
    /spec\.userData: .*line 2/,
  ],
];

function disk(): object {
  return { deviceName: "/dev/xvda", ebs: { volumeSize: "20Gi" } };
}

/** What a call says as soon as it succeeds. */
async function eventually<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (tries === 60) throw error;
      await sleep(500);
    }
  }
}

function match(text: string, wanted: RegExp): string | undefined {
  return wanted.test(text) ? undefined : `wanted ${wanted}, got: ${text.trim()}`;
}

function same(got: unknown, want: unknown): string | undefined {
  return isDeepStrictEqual(got, want) ? undefined : `is ${JSON.stringify(got)}, wanted ${JSON.stringify(want)}`;
}

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "admission-on-server-"));
  const cluster = await startCluster({ dataDir, clusterName: CLUSTER, args: ["--scheduler=false"] });
  let [passed, failed] = [0, 0];
  try {
    const host = await startAdmissionHost(cluster, TOKEN);
    const text = manifests({ cluster: CLUSTER, admissionUrl: host.url, admissionToken: TOKEN, caBundle: cluster.caData });
    await cluster.kubectl("apply", "-f", "-", { input: text });
    await cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=20s");
    await eventually(async () => cluster.kubectl("get", "nodepools.v1beta1.karpenter.sh"));
    for (const [name, act] of steps(cluster, host)) {
      const began = Date.now();
      const fault = await act().catch(String);
      fault === undefined ? passed++ : failed++;
      console.log(`${fault === undefined ? "ok  " : "FAIL"} ${name} (${Date.now() - began} ms)${fault === undefined ? "" : `: ${fault}`}`);
    }
  } finally {
    await cluster.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
}

await main();
