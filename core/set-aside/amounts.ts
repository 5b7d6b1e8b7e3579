// Amounts of resources that cannot be read, and objects without their amounts.

import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodePool } from "../model/node-pool.ts";
import type { Container, Pod } from "../model/pod.ts";
import { resourcesProblem } from "../model/quantity.ts";

export function limitsProblem({ limits }: NodePool["spec"]): string | undefined {
  const problem = resourcesProblem(limits);
  return problem === undefined ? undefined : `spec.limits: ${problem}`;
}

export function statusProblem(status: Node["status"] | NodeClaim["status"]): string | undefined {
  return resourcesProblem(status?.capacity) ?? resourcesProblem(status?.allocatable);
}

/** Everything but amounts: labels, ports and topology rules of a running pod still count. */
export function withoutAmounts({ status = {}, ...pod }: Pod): Pod {
  const { overhead: _, resources: __, ...spec } = pod.spec;
  const { containerStatuses: ___, initContainerStatuses: ____, resources: _____, allocatedResources: ______, ...rest } = status;
  return {
    ...pod,
    spec: {
      ...spec,
      ...(spec.containers && { containers: spec.containers.map(withoutResources) }),
      ...(spec.initContainers && { initContainers: spec.initContainers.map(withoutResources) }),
    },
    status: rest,
  };
}

function withoutResources({ resources: _, ...container }: Container): Container {
  return container;
}
