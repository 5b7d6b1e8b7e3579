import { describe, expect, it } from "vitest";
import type { KubeObject } from "#installer/account/ports.ts";
import { findKarpenter, replicasBefore, scaleToZero, scaleUp } from "#installer/migrate/karpenter-deployment.ts";

interface Given {
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly replicas?: number;
  readonly container?: object;
}

const CHART = { "app.kubernetes.io/name": "karpenter" };

const deployment = ({ name = "karpenter", labels = CHART, annotations = {}, replicas = 2, container = {} }: Given = {}): KubeObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: "kube-system", labels, annotations },
  spec: { replicas, selector: { matchLabels: labels }, template: { spec: { containers: [container] } } },
});

const find = (...objects: readonly KubeObject[]) => findKarpenter({ list: async () => objects });

describe("the Karpenter of a cluster", () => {
  it("is the Deployment with the label of its chart, whatever runs beside it", async () => {
    const found = await find(deployment({ name: "web", labels: { app: "web" } }), deployment());
    expect(found).toMatchObject({ namespace: "kube-system", name: "karpenter", replicas: 2, settings: {} });
  });

  it("is the Deployment with its image, where the chart was renamed", async () => {
    const container = { image: "public.ecr.aws/karpenter/controller:1.14.1@sha256:00ff" };
    expect(await find(deployment({ name: "scaler", labels: {}, container }))).toMatchObject({ name: "scaler", version: "1.14.1" });
  });

  it("has the settings of its variables and of its arguments; what Kubernetes fills in and what is empty is none", async () => {
    const container = {
      env: [
        { name: "BATCH_IDLE_DURATION", value: "2s" },
        { name: "CLUSTER_ENDPOINT", value: "" },
        { name: "SYSTEM_NAMESPACE", valueFrom: {} },
      ],
      args: ["--batch-max-duration=20s", "--verbose"],
      envFrom: [{ configMapRef: { name: "more" } }, { secretRef: { name: "hidden" } }],
    };
    expect(await find(deployment({ container }))).toMatchObject({
      settings: { BATCH_IDLE_DURATION: "2s", BATCH_MAX_DURATION: "20s" },
      unread: ["more", "hidden"],
    });
  });

  it.for([
    { what: "Argo CD, by its label", given: { labels: { ...CHART, "argocd.argoproj.io/instance": "k" } }, want: "Argo CD" },
    { what: "Argo CD, by its annotation", given: { annotations: { "argocd.argoproj.io/tracking-id": "k" } }, want: "Argo CD" },
    { what: "Flux", given: { labels: { ...CHART, "helm.toolkit.fluxcd.io/name": "k" } }, want: "Flux" },
    { what: "nobody", given: {}, want: undefined },
  ])("is kept by $what", async ({ given, want }) => {
    expect((await find(deployment(given)))?.gitOps).toBe(want);
  });

  it("must be one: of several a person names one, and a name that nobody has is told", async () => {
    const two = [deployment(), deployment({ name: "karpenter-2" })];
    await expect(find(...two)).rejects.toThrow("there are 2 Deployments of Karpenter (kube-system/karpenter, kube-system/karpenter-2)");
    expect(await findKarpenter({ list: async () => two }, "kube-system/karpenter-2")).toMatchObject({ name: "karpenter-2" });
    await expect(findKarpenter({ list: async () => two }, "x/y")).rejects.toThrow("there is no Deployment x/y");
    expect(await find()).toBeUndefined();
  });
});

describe("how many replicas Karpenter has", () => {
  const read = async (given: Given) => {
    const found = await find(deployment(given));
    if (found === undefined) throw new Error("there is none");
    return found;
  };

  it("is kept while it is scaled to 0, and is what it gets back, also when either is repeated", async () => {
    const changes: object[] = [];
    const patch = async (_: KubeObject, change: object): Promise<void> => void changes.push(change);
    await scaleToZero(await read({ replicas: 3 }), { patch });
    const ended = await read({ replicas: 0, annotations: { "karpenter-serverless/former-replicas": "3" } });
    await scaleToZero(ended, { patch });
    await scaleUp(ended, { patch });
    expect(changes).toEqual([
      { metadata: { annotations: { "karpenter-serverless/former-replicas": "3" } }, spec: { replicas: 0 } },
      { metadata: { annotations: { "karpenter-serverless/former-replicas": null } }, spec: { replicas: 3 } },
    ]);
    expect(replicasBefore(await read({ replicas: 3 }))).toBe(3);
  });

  it("is what the chart starts where nobody knows", async () => {
    expect(replicasBefore(await read({ replicas: 0 }))).toBe(2);
  });
});
