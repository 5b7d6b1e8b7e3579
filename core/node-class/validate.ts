import { ownValue } from "../lib/own-value.ts";
import type { EC2NodeClassSpec } from "../model/node-class.ts";
import { amountProblem, parseQuantity } from "../model/quantity.ts";
import { FAMILIES } from "./family.ts";
import { kubeletProblems } from "./kubelet.ts";
import { expressionProblems } from "./kubelet-expressions.ts";

/** What of an EC2NodeClass no launch can be rendered from, as a sentence. */
export function nodeClassProblem(spec: EC2NodeClassSpec): string | undefined {
  const { amiFamily, blockDeviceMappings = [] } = spec;
  if (amiFamily !== undefined && ownValue(FAMILIES, amiFamily) === undefined)
    return `spec.amiFamily: "${excerpt(amiFamily)}" is not known; use one of ${Object.keys(FAMILIES).join(", ")}`;
  for (const { deviceName, ebs } of blockDeviceMappings) {
    const problem = ebs?.volumeSize === undefined ? undefined : amountProblem(() => parseQuantity(ebs.volumeSize ?? ""));
    if (problem !== undefined) return `spec.blockDeviceMappings: volumeSize of ${deviceName}: ${problem}`;
  }
  return kubeletProblems(spec.kubelet)[0] ?? expressionProblems(spec.kubelet)[0];
}

const excerpt = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text);
