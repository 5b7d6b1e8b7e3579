import { describe, expect, it } from "vitest";
import { renderLaunch } from "#core/launch/fleet-request.ts";
import type { NodeClaimSpec } from "#core/model/node-claim.ts";
import type { EC2NodeClassSpec, KubeletConfiguration } from "#core/model/node-class.ts";
import { kubeletFailures } from "#core/offerings/kubelet-of-type.ts";
import { readUserData } from "#lab/world/user-data.ts";
import { catalogue, claim, cluster, nodeClass, typesOf } from "./support.ts";

const EXPRESSIONS: KubeletConfiguration = {
  maxPods: "((default_enis - 1) * (ips_per_eni - 1)) + 2",
  kubeReserved: { cpu: "max(65, vcpus * 30)", memory: "11 * max_pods + 255", "ephemeral-storage": "2Gi" },
  systemReserved: { memory: "memory_mib / 64", pid: "vcpus + 1", "ephemeral-storage": "vcpus" },
};
const ON_DEMAND: NodeClaimSpec["requirements"] = [
  { key: "node.kubernetes.io/instance-type", operator: "In", values: ["m5.large", "m5.xlarge"] },
  { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] },
];
const withKubelet = (kubelet: KubeletConfiguration, spec: Partial<EC2NodeClassSpec> = {}) => nodeClass({ spec: { ...spec, kubelet } });
const named = (kubelet: KubeletConfiguration, name: string, spec: Partial<EC2NodeClassSpec> = {}) =>
  typesOf({ nodeClass: withKubelet(kubelet, spec) }).find((type) => type.name === name);

describe("expressions in spec.kubelet", () => {
  it("a plan counts with the values that they have for each type", () => {
    expect(named(EXPRESSIONS, "m5.large")).toMatchObject({
      capacity: { pods: "20" },
      overhead: {
        kubeReserved: { cpu: "70m", memory: "480Mi", "ephemeral-storage": "2Gi" },
        systemReserved: { memory: "128Mi", pid: "3", "ephemeral-storage": "2Gi" },
      },
    });
    expect(named(EXPRESSIONS, "m5.xlarge")).toMatchObject({ capacity: { pods: "44" }, overhead: { kubeReserved: { cpu: "120m" } } });
  });

  it("max_pods is the default limit in maxPods, and in a reservation the limit that applies", () => {
    expect(named({ maxPods: "max_pods - 9" }, "m5.large")?.capacity).toMatchObject({ pods: "20" });
    expect(named({ maxPods: 40, systemReserved: { pid: "max_pods" } }, "m5.large")?.overhead.systemReserved).toEqual({ pid: "40" });
    expect(named({ maxPods: "100", podsPerCore: 4, systemReserved: { pid: "max_pods" } }, "m5.large")).toMatchObject({
      capacity: { pods: "8" },
      overhead: { systemReserved: { pid: "8" } },
    });
  });

  it("each machine gets the values that the plan has counted with, and no expression", () => {
    const rendered = renderLaunch({
      ...{ claim: claim({ spec: { requirements: ON_DEMAND } }), record: {}, cluster, attempt: 0 },
      nodeClass: withKubelet(EXPRESSIONS),
      instanceTypes: typesOf({ nodeClass: withKubelet(EXPRESSIONS) }),
    });
    if (!("ok" in rendered)) throw new Error(rendered.error.message);
    const { request, templates } = rendered.ok;
    const settings = request.launchTemplates.map(({ overrides }, i) => {
      const { maxPods, kubeReserved, systemReserved } = readUserData(templates[i]?.userData ?? "");
      return [[...new Set(overrides.map(({ instanceType }) => instanceType))], maxPods, kubeReserved, systemReserved];
    });
    expect(settings).toContainEqual([
      ["m5.large"],
      20,
      { cpu: "70m", memory: "480Mi", "ephemeral-storage": "2Gi" },
      { memory: "128Mi", pid: "3", "ephemeral-storage": "2Gi" },
    ]);
    expect(settings).toContainEqual([["m5.xlarge"], 44, expect.objectContaining({ cpu: "120m" }), expect.objectContaining({ pid: "5" })]);
    expect(JSON.stringify(templates)).not.toMatch(/vcpus|max_pods/);
  });

  it("a type without a value is not launched, and the class says which and why", () => {
    const kubelet = { maxPods: "100 / (vcpus - 2)" };
    expect(named(kubelet, "m5.large")?.offerings.some(({ available }) => available)).toBe(false);
    expect(named(kubelet, "m5.xlarge")?.offerings.some(({ available }) => available)).toBe(true);
    const types = catalogue.types.filter(({ name }) => name === "m5.large" || name === "m5.xlarge");
    const { spec } = withKubelet(kubelet);
    expect(kubeletFailures(spec, types, 0)).toEqual({
      all: false,
      message: "no node is launched of types without a value: spec.kubelet.maxPods (100 / (vcpus - 2)): division by zero: m5.large",
    });
    expect(kubeletFailures(withKubelet({ kubeReserved: { cpu: "vcpus - 100" } }).spec, types, 0)).toEqual({
      all: true,
      message:
        "no node is launched of types without a value: spec.kubelet.kubeReserved[cpu] (vcpus - 100): the value is negative: m5.large and m5.xlarge",
    });
    expect(kubeletFailures(withKubelet({ maxPods: "vcpus * 9223372036" }).spec, types, 0)?.message).toContain("has more than 32 bits");
    expect(kubeletFailures(withKubelet({ maxPods: 20 }).spec, types, 0)).toBeUndefined();
  });
});
