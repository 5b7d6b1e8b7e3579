import { describe, expect, it } from "vitest";
import { kubeletProblems, unsupportedKubelet } from "#core/node-class/kubelet.ts";

describe("the kubelet settings of an EC2NodeClass", () => {
  it("all kinds of fields of KubeletConfiguration are taken", () => {
    const kubelet = {
      ...{ maxPods: 110, podPidsLimit: 4096, seccompDefault: true, memoryThrottlingFactor: 0.9, cgroupDriver: "systemd" },
      ...{ containerLogMaxSize: "50Mi", imageMinimumGCAge: "2m0s", allowedUnsafeSysctls: ["net.core.somaxconn"] },
      ...{
        featureGates: { InPlacePodVerticalScaling: true },
        tlsCurvePreferences: [29],
        defaultPodSysctls: { "net.core.somaxconn": "1024" },
      },
      ...{ reservedMemory: [{ numaNode: 0, limits: { memory: "1100Mi" } }], staticPodURLHeader: { Accept: ["a"] } },
      ...{ authentication: { anonymous: { enabled: false } }, crashLoopBackOff: { maxContainerRestartPeriod: "60s" } },
      logging: { verbosity: 4, flushFrequency: 5_000_000_000, options: { json: { infoBufferSize: "1Mi" } } },
      ...{ evictionMinimumReclaim: { "nodefs.available": "500Mi" }, qosReserved: { memory: "50%" } },
    };
    expect(kubeletProblems(kubelet)).toEqual([]);
    expect(kubeletProblems(undefined)).toEqual([]);
  });

  it.for([
    { kubelet: [], says: "spec.kubelet: it must be a map of settings" },
    { kubelet: { maxpods: 4 }, says: "spec.kubelet.maxpods: the kubelet has no such field; write maxPods" },
    { kubelet: { nothingLikeIt: 4 }, says: "spec.kubelet.nothingLikeIt: the kubelet has no such field; take it out" },
    { kubelet: { logging: { verbose: 1 } }, says: "spec.kubelet.logging.verbose: the kubelet has no such field; take it out" },
    { kubelet: { podsPerCore: "4" }, says: 'spec.kubelet.podsPerCore: "4" is not a whole number of 32 bits without quotes' },
    { kubelet: { seccompDefault: "yes" }, says: 'spec.kubelet.seccompDefault: "yes" is not true or false without quotes' },
    { kubelet: { syncFrequency: "1d" }, says: 'spec.kubelet.syncFrequency: "1d" is not a duration like 30s or 1h30m' },
    { kubelet: { syncFrequency: null }, says: "spec.kubelet.syncFrequency: null is not a duration like 30s or 1h30m" },
    { kubelet: { clusterDNS: "10.0.0.10" }, says: 'spec.kubelet.clusterDNS: "10.0.0.10" is not a list' },
    { kubelet: { reservedMemory: [{ limits: { memory: "x" } }] }, says: "spec.kubelet.reservedMemory[0].limits[memory]" },
    { kubelet: { featureGates: { A: "true" } }, says: 'spec.kubelet.featureGates[A]: "true" is not true or false' },
    { kubelet: { registerWithTaints: [] }, says: "spec.kubelet.registerWithTaints: it is made of each NodeClaim's taints" },
    { kubelet: { evictionMinimumReclaim: { "cpu.available": "1" } }, says: "evictionMinimumReclaim: cpu.available is none of" },
    { kubelet: { evictionHard: { "memory.available": "101%" } }, says: '"101%" is not a percentage from 0% to 100%' },
    { kubelet: { evictionHard: { "memory.available": "-1Mi" } }, says: '[memory.available]: "-1Mi" is negative' },
    { kubelet: { evictionSoft: { "memory.available": "1Mi" } }, says: "evictionSoft: memory.available needs one in" },
    { kubelet: { kubeReserved: { gpu: "1" } }, says: "spec.kubelet.kubeReserved: gpu is none of cpu, memory, ephemeral-storage, pid" },
    { kubelet: { kubeReserved: { cpu: "-1" } }, says: 'spec.kubelet.kubeReserved[cpu]: "-1" is negative' },
    { kubelet: { imageGCLowThresholdPercent: 101 }, says: "spec.kubelet.imageGCLowThresholdPercent: 101 is not from 0 to 100" },
    { kubelet: { podsPerCore: -1 }, says: "spec.kubelet.podsPerCore: -1 is negative" },
    { kubelet: { imageGCHighThresholdPercent: 5, imageGCLowThresholdPercent: 5 }, says: "must be greater than" },
  ])("$kubelet is refused with: $says", ({ kubelet, says }) => {
    expect(kubeletProblems(kubelet)).toEqual([expect.stringContaining(says)]);
  });

  it("a negative grace period without its threshold is two problems", () => {
    expect(kubeletProblems({ evictionSoftGracePeriod: { "memory.available": "-1s" } })).toEqual([
      'spec.kubelet.evictionSoftGracePeriod[memory.available]: "-1s" is negative',
      "spec.kubelet.evictionSoftGracePeriod: memory.available needs one in evictionSoft too; add it, or take this one out",
    ]);
  });

  it.for([
    { family: "AL2023", says: [] },
    { family: "Custom", says: [] },
    { family: "Bottlerocket", says: ["spec.kubelet: images of Bottlerocket cannot set podsPerCore and seccompDefault; take out"] },
    { family: "Windows2022", says: ["spec.kubelet: images of Windows2022 cannot set seccompDefault; take out"] },
    { family: "AL2", says: ["spec.kubelet: images of AL2 cannot set seccompDefault; take out"] },
  ] as const)("images of $family say what they cannot set", ({ family, says }) => {
    const kubelet = { seccompDefault: true, podsPerCore: 4, maxPods: 20 };
    expect(unsupportedKubelet(kubelet, family)).toEqual(says.map((text) => expect.stringContaining(text)));
  });
});
