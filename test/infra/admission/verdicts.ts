import { setTimeout as sleep } from "node:timers/promises";
import { nodeClass, nodePool } from "../crd-samples.ts";
import { nodeOverlay } from "../node-overlay-samples.ts";
import { type Bench, match, NODE_CLAIM_V1, named, type Step, same, V1 } from "./bench.ts";
import { PUBLISHED_NODE_POOL } from "./v1beta1-samples.ts";

/** Objects that admission completes or refuses, and objects for which it is not called. */
export function verdicts({ host, kubectl, submit }: Bench): readonly Step[] {
  return [
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
    [
      "what a feature gate leaves without effect is taken, and warned of",
      async () =>
        match(await submit(nodeOverlay({}), "--dry-run=server", "--warnings-as-errors").catch(String), /feature gate NodeOverlay is off/),
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
}

const badBudget = { disruption: { consolidateAfter: "0s", budgets: [{ nodes: "1", schedule: "61 * * * *", duration: "1h" }] } };

/** Objects that no schema can refuse, and a part of the refusal. */
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
  [
    "an overlay of a capacity type that no one sells",
    nodeOverlay({ requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["cheap"] }], price: "0.1" }),
    /none of the values that exist/,
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
