import { ownValue } from "../lib/own-value.ts";
import type { EC2NodeClassSpec } from "../model/node-class.ts";
import { amountProblem, parseQuantity, resourcesProblem } from "../model/quantity.ts";
import { FAMILIES } from "./family.ts";

const PERCENTAGE = /^\d+(\.\d+)?%$/;

/** What of an EC2NodeClass no launch can be rendered from, as a sentence. */
export function nodeClassProblem(spec: EC2NodeClassSpec): string | undefined {
  const { amiFamily, blockDeviceMappings = [] } = spec;
  if (amiFamily !== undefined && ownValue(FAMILIES, amiFamily) === undefined)
    return `spec.amiFamily: "${excerpt(amiFamily)}" is not known; use one of ${Object.keys(FAMILIES).join(", ")}`;
  for (const { deviceName, ebs } of blockDeviceMappings) {
    const problem = ebs?.volumeSize === undefined ? undefined : amountProblem(() => parseQuantity(ebs.volumeSize ?? ""));
    if (problem !== undefined) return `spec.blockDeviceMappings: volumeSize of ${deviceName}: ${problem}`;
  }
  return kubeletProblem(spec);
}

const excerpt = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text);

/**
 * The first amount of the kubelet's settings that cannot be read, as a sentence. The schema's patterns admit some, as
 * "1e1.5".
 */
export function kubeletProblem({ kubelet }: Pick<EC2NodeClassSpec, "kubelet">): string | undefined {
  const { kubeReserved, systemReserved, evictionHard = {} } = kubelet ?? {};
  const amounts = Object.fromEntries(Object.entries(evictionHard).filter(([, signal]) => !PERCENTAGE.test(signal)));
  for (const [field, list] of Object.entries({ kubeReserved, systemReserved, evictionHard: amounts })) {
    const problem = resourcesProblem(list);
    if (problem !== undefined) return `spec.kubelet.${field}: ${problem}`;
  }
  return undefined;
}
