import * as edges from "../edges.ts";
import { maybe, several } from "../edges.ts";
import { amounts, clusterWide, type Draw, labelsOf, TENANT } from "./fields.ts";

/** A node that nobody runs: it lies about its size, its age and its conditions. */
export const node: Draw = (random, i) => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: {
    ...clusterWide(random, i),
    labels: {
      ...TENANT,
      ...labelsOf(random),
      ...maybe(random, 0.3, () => ({ "karpenter.sh/nodepool": random.pick(["none", "constructor", "default"]) })),
      ...maybe(random, 0.3, () => ({ "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true" })),
    },
  },
  spec: {
    ...maybe(random, 0.7, () => ({
      providerID: random.pick([
        "x",
        "aws:///",
        "aws:///us-west-2a/",
        `aws:///us-west-2a/i-${random.hex(17)}`,
        // Two nodes of one machine.
        `aws:///us-west-2a/i-${"1".repeat(17)}`,
        "constructor",
        `aws:///us-west-2a/i-${"0".repeat(3_000)}`,
        "kind://docker/kind/x",
      ]),
    })),
    ...maybe(random, 0.5, () => ({
      taints: several(random, 100, (j) => ({
        key: `${random.pick(["a", "constructor"])}-${j}`,
        effect: random.pick(["NoSchedule", "NoExecute"]),
        ...maybe(random, 0.3, () => ({ timeAdded: random.pick(edges.TIMES) })),
      })),
    })),
    unschedulable: random.next() < 0.5,
  },
  status: {
    capacity: amounts(random),
    allocatable: amounts(random),
    conditions: [
      {
        type: "Ready",
        status: random.pick(["True", "False", "Unknown"]),
        reason: "x",
        message: "",
        lastHeartbeatTime: random.pick(edges.TIMES),
        lastTransitionTime: random.pick(edges.TIMES),
      },
      ...several(random, 50, (j) => ({
        type: random.pick([`T${j}`, "constructor"]),
        status: "True",
        reason: "",
        message: random.pick(edges.UNICODE),
        lastHeartbeatTime: random.pick(edges.TIMES),
        lastTransitionTime: random.pick(edges.TIMES),
      })),
    ],
  },
});
