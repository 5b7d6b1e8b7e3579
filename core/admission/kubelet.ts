import type { AmiFamily, KubeletConfiguration } from "../model/node-class.ts";
import { durationProblems } from "./durations.ts";
import type { AdmissionVerdict } from "./verdict.ts";

const IPV4 = /^((25[0-5]|2[0-4]\d|1?\d?\d)(\.(?!$)|$)){4}$/;
/** Loose: it separates addresses from names. */
const IPV6 = /^[0-9a-fA-F:]*:[0-9a-fA-F:.]*$/;

/**
 * Problems: kubelet settings that would keep nodes from joining. Warnings: settings that the family's images do not
 * take.
 */
export function reviewKubelet(kubelet: KubeletConfiguration | undefined, family: AmiFamily): AdmissionVerdict {
  if (kubelet === undefined) return { problems: [], warnings: [] };
  const addresses = (kubelet.clusterDNS ?? []).filter((text) => !IPV4.test(text) && !IPV6.test(text));
  const problems = [
    ...addresses.map((text) => `spec.kubelet.clusterDNS: "${text}" is no IP address; the kubelet does not start with it`),
    ...durationProblems(
      Object.fromEntries(
        Object.entries(kubelet.evictionSoftGracePeriod ?? {}).map(([signal, text]) => [
          `spec.kubelet.evictionSoftGracePeriod[${signal}]`,
          text,
        ]),
      ),
    ),
  ];
  return { problems, warnings: unused(kubelet, family) };
}

function unused(kubelet: KubeletConfiguration, family: AmiFamily): readonly string[] {
  const fields = Object.keys(kubelet);
  if (family === "Custom" && fields.length > 0)
    return [
      "spec.kubelet: with amiFamily Custom it only describes the capacity of nodes; your user data must configure the kubelet in the same way",
    ];
  if (family === "Bottlerocket" && fields.includes("podsPerCore"))
    return ["spec.kubelet.podsPerCore: Bottlerocket has no such setting, so it is left out; use maxPods"];
  if (family !== "AL2023" && (kubelet.clusterDNS?.length ?? 0) > 1)
    return [`spec.kubelet.clusterDNS: images of ${family} take one address; the first is used`];
  return [];
}
