import { oncePer } from "../lib/once-per.ts";
import { ownValue } from "../lib/own-value.ts";
import type { ResourceList } from "./kubernetes.ts";
import type { Container, ContainerStatus, Pod, PodSpec } from "./pod.ts";
import { addResources, formatResources, maxResources, parseResources, type Resources } from "./quantity.ts";

/** What is counted of a pod. A template is counted by its `admittedSpec`. */
type PodWithRequests = Pick<Pod, "spec" | "status">;

function isSidecar(container: Container): boolean {
  return container.restartPolicy === "Always";
}

/**
 * The spec with the requests that count. A pod that is resized in place holds the most of what it asks for, of what is
 * allocated and of what its containers run with; an infeasible resize will not happen, so that what it asks for does
 * not count. Limits do not count, because the API server has already copied them into missing requests
 * (kubernetes: staging/src/k8s.io/component-helpers/resource/helpers.go, determineEffectiveRequests).
 * The same object where nothing differs.
 */
export const countedSpec: (pod: PodWithRequests) => PodSpec = oncePer(({ spec, status = {} }) => {
  const { containerStatuses = [], initContainerStatuses = [] } = status;
  const statuses = new Map([...containerStatuses, ...initContainerStatuses].map((one) => [one.name, one]));
  const isInfeasible = status.conditions?.find(({ type }) => type === "PodResizePending")?.reason === "Infeasible";
  const held = (wanted: ResourceList | undefined, state: Omit<ContainerStatus, "name"> | undefined): ResourceList | undefined =>
    state?.resources === undefined ? wanted : largest(wanted, state.resources.requests, state.allocatedResources, isInfeasible);
  const counted = (container: Container, state: ContainerStatus | undefined): Container => {
    const { requests } = container.resources ?? {};
    const most = held(requests, state);
    return most === requests ? container : { ...container, resources: { ...container.resources, ...(most && { requests: most }) } };
  };
  const containers = changed(spec.containers, (one) => counted(one, statuses.get(one.name)));
  const initContainers = changed(spec.initContainers, (one) => counted(one, isSidecar(one) ? statuses.get(one.name) : undefined));
  const podLevel = spec.resources?.requests;
  const requests = podLevel && held(podLevel, status);
  if (containers === spec.containers && initContainers === spec.initContainers && requests === podLevel) return spec;
  return {
    ...spec,
    ...(containers && { containers }),
    ...(initContainers && { initContainers }),
    ...(requests && { resources: { ...spec.resources, requests } }),
  };
});

/** The list with each item changed; the same list where no item changes. */
function changed<T>(list: readonly T[] | undefined, change: (item: T) => T): readonly T[] | undefined {
  const after = list?.map(change);
  return after?.every((item, i) => item === list?.[i]) ? list : after;
}

/**
 * The spec of a template as it is in its pods: the API server fills missing requests from limits when it admits a pod,
 * and a template is never admitted. A pod-level limit fills a missing request where the containers request nothing of
 * the resource, and always for huge pages, which cannot be overcommitted
 * (kubernetes: pkg/apis/core/v1/defaults.go, SetDefaults_Pod). Throws RangeError for a quantity that cannot be read.
 */
export const admittedSpec: (template: PodSpec) => PodSpec = oncePer(({ containers, initContainers, ...rest }) => {
  const own = {
    ...(containers && { containers: containers.map(withRequests) }),
    ...(initContainers && { initContainers: initContainers.map(withRequests) }),
  };
  const { resources } = rest;
  if (resources?.limits === undefined) return { ...rest, ...own };
  const requested = specRequests(own);
  const missing = Object.entries(resources.limits).filter(
    ([name]) => ownValue(requested, name) === undefined || name.startsWith("hugepages-"),
  );
  return { ...rest, ...own, resources: { ...resources, requests: { ...Object.fromEntries(missing), ...resources.requests } } };
});

function withRequests(container: Container): Container {
  const { requests, limits } = container.resources ?? {};
  return limits === undefined ? container : { ...container, resources: { ...container.resources, requests: { ...limits, ...requests } } };
}

function largest(
  wanted: ResourceList | undefined,
  actual: ResourceList | undefined,
  allocated: ResourceList | undefined,
  isInfeasible: boolean,
): ResourceList | undefined {
  if (isSame(actual, wanted) && isSame(allocated, wanted)) return wanted;
  const lists = [...(isInfeasible ? [] : [wanted]), actual, allocated];
  return formatResources(maxResources(...lists.map(parseResources)));
}

/** Whether two lists are equal as the API writes them; equal amounts in other words count as different. */
function isSame(a: ResourceList = {}, b: ResourceList = {}): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

/**
 * What a pod takes from a node, in milli-units, plus `pods: 1`, as kube-scheduler counts `countedSpec`: the larger of
 * the running containers with their sidecars and of each init container with the sidecars started before it; pod-level
 * resources replace the sum for the resources that they name; then the overhead of the runtime class is added.
 * Requests of zero are left out. Whatever counts pods counts them with this function.
 *
 *     podRequests(pod).cpu; // 1500: with what a resize has not given back yet
 *     podRequests({ spec: admittedSpec(daemonSet.spec.template.spec) }); // of the pods that it will have
 */
export function podRequests(pod: PodWithRequests): Resources {
  return specRequests(countedSpec(pod));
}

const specRequests: (spec: PodSpec) => Resources = oncePer((spec) => {
  let sidecars: Resources = {};
  let initPeak: Resources = {};
  for (const container of spec.initContainers ?? []) {
    const requests = parseResources(container.resources?.requests);
    if (isSidecar(container)) {
      sidecars = addResources(sidecars, requests);
      initPeak = maxResources(initPeak, sidecars);
    } else {
      initPeak = maxResources(initPeak, addResources(sidecars, requests));
    }
  }
  const running = addResources(sidecars, ...(spec.containers ?? []).map(({ resources }) => parseResources(resources?.requests)));
  const most = maxResources(running, initPeak);
  const total: Record<string, number> = {
    ...addResources({ ...most, ...parseResources(spec.resources?.requests) }, parseResources(spec.overhead)),
  };
  for (const name in total) if (total[name] === 0) delete total[name];
  return { ...total, pods: 1000 };
});
