import type { EC2NodeClassSpec } from "../model/node-class.ts";
import { resourcesProblem } from "../model/quantity.ts";

const PERCENTAGE = /^\d+(\.\d+)?%$/;

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
