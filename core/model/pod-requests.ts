import { oncePer } from "../lib/once-per.ts";
import type { Container, PodSpec, ResourceRequirements } from "./pod.ts";
import { addResources, maxResources, parseResources, type Resources } from "./quantity.ts";

/** The requests of one container. Limits do not count: the API server has already copied them into missing requests. */
function containerRequests(container: { readonly resources?: ResourceRequirements }): Resources {
  return parseResources(container.resources?.requests);
}

function isSidecar(container: Container): boolean {
  return container.restartPolicy === "Always";
}

/**
 * What a pod takes from a node, in milli-units, plus `pods: 1`, as kube-scheduler counts: the larger of the running
 * containers with their sidecars and of each init container with the sidecars started before it; pod-level resources
 * replace the sum for the resources that they name; then the overhead of the runtime class is added. Requests of zero
 * are left out.
 */
export const podRequests: (spec: PodSpec) => Resources = oncePer((spec) => {
  let sidecars: Resources = {};
  let initPeak: Resources = {};
  for (const container of spec.initContainers ?? []) {
    const requests = containerRequests(container);
    if (isSidecar(container)) {
      sidecars = addResources(sidecars, requests);
      initPeak = maxResources(initPeak, sidecars);
    } else {
      initPeak = maxResources(initPeak, addResources(sidecars, requests));
    }
  }
  const running = addResources(sidecars, ...(spec.containers ?? []).map(containerRequests));
  const podLevel = spec.resources === undefined ? {} : containerRequests({ resources: spec.resources });
  const total: Record<string, number> = {
    ...addResources({ ...maxResources(running, initPeak), ...podLevel }, parseResources(spec.overhead)),
  };
  for (const name in total) if (total[name] === 0) delete total[name];
  return { ...total, pods: 1000 };
});
