import type { AmiFamily, KubeletConfiguration } from "../model/node-class.ts";
import { kubeletProblems, unsupportedKubelet } from "../node-class/kubelet.ts";
import { expressionProblems } from "../node-class/kubelet-expressions.ts";
import type { AdmissionVerdict } from "./verdict.ts";

const IPV4 = /^((25[0-5]|2[0-4]\d|1?\d?\d)(\.(?!$)|$)){4}$/;
/** Loose: it separates addresses from names. */
const IPV6 = /^[0-9a-fA-F:]*:[0-9a-fA-F:.]*$/;

/**
 * Problems: DNS addresses that would keep nodes from joining. Warnings: settings with which the EC2NodeClass does not
 * become ready. Karpenter takes such an object too, so that what applies there applies here.
 */
export function reviewKubelet(kubelet: KubeletConfiguration | undefined, family: AmiFamily): AdmissionVerdict {
  if (kubelet === undefined) return { problems: [], warnings: [] };
  const given: readonly unknown[] = Array.isArray(kubelet.clusterDNS) ? kubelet.clusterDNS : [];
  const addresses = given.filter((text) => typeof text === "string" && !IPV4.test(text) && !IPV6.test(text));
  const problems = addresses.map((text) => `spec.kubelet.clusterDNS: "${text}" is no IP address; the kubelet does not start with it`);
  return {
    problems,
    warnings: [
      ...kubeletProblems(kubelet),
      ...expressionProblems(kubelet),
      ...unsupportedKubelet(kubelet, family),
      ...descriptive(kubelet, family),
    ],
  };
}

function descriptive(kubelet: KubeletConfiguration, family: AmiFamily): readonly string[] {
  return family === "Custom" && Object.keys(kubelet).length > 0
    ? [
        "spec.kubelet: with amiFamily Custom it only describes the capacity of nodes; your user data must configure the kubelet in the same way",
      ]
    : [];
}
