import { expect, it } from "vitest";
import { NODE_CLASS, nodePool, ON_DEMAND } from "../simulation/story.ts";
import { MINUTE, pass, ready, runningPods } from "../support/lab-story.ts";

const GP3 = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "gp3" },
  provisioner: "ebs.csi.aws.com",
  volumeBindingMode: "WaitForFirstConsumer",
};

const DATABASES = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "db" },
  spec: {
    replicas: 40,
    podManagementPolicy: "Parallel",
    selector: { matchLabels: { app: "db" } },
    template: {
      metadata: { labels: { app: "db" } },
      spec: { containers: [{ name: "db", image: "db", resources: { requests: { cpu: "10m", memory: "16Mi" } } }] },
    },
    volumeClaimTemplates: [{ metadata: { name: "data" }, spec: { storageClassName: "gp3", accessModes: ["ReadWriteOnce"] } }],
  },
};

/** m5.2xlarge has room for 58 pods and attaches 26 volumes beside its own. */
const POOL = nodePool([ON_DEMAND, { key: "node.kubernetes.io/instance-type", operator: "In", values: ["m5.2xlarge"] }]);

it("40 pods with a volume each are planned on the machines that attach them", async () => {
  const lab = await ready([NODE_CLASS, POOL, GP3]);
  const planned = new Map<string, string | undefined>();
  lab.world.store.onChange(({ object }) => {
    const { requests } = (object["spec"] as { resources?: { requests?: Record<string, string> } } | undefined)?.resources ?? {};
    if (object.kind === "NodeClaim") planned.set(object.metadata.name, requests?.["pods"]);
  });
  lab.world.apply(DATABASES);
  await pass(lab, MINUTE);
  // kube-scheduler knows a limit only once the driver runs on a node, so the pods need not be where they were planned.
  expect(runningPods(lab)).toBe(40);
  expect([...planned.values()].sort()).toEqual(["14", "26"]);
  lab.close();
});
