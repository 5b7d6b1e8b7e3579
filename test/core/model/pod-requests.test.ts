import { expect, it } from "vitest";
import { admittedSpec, countedSpec, podRequests } from "#core/model/pod-requests.ts";

const uses = (cpu: string, memory?: string) => ({ requests: { cpu, ...(memory ? { memory } : {}) } });

it.for([
  { name: "no containers", spec: {}, want: { pods: 1000 } },
  {
    name: "containers add up",
    spec: {
      containers: [
        { name: "a", resources: uses("1") },
        { name: "b", resources: uses("500m") },
      ],
    },
    want: { cpu: 1500, pods: 1000 },
  },
  {
    name: "a large init container counts instead of the containers",
    spec: { containers: [{ name: "a", resources: uses("1") }], initContainers: [{ name: "i", resources: uses("3") }] },
    want: { cpu: 3000, pods: 1000 },
  },
  {
    name: "a sidecar runs beside the containers, and beside the init containers after it",
    spec: {
      containers: [{ name: "a", resources: uses("1") }],
      initContainers: [
        { name: "before", resources: uses("2200m") },
        { name: "side", restartPolicy: "Always", resources: uses("500m") },
        { name: "after", resources: uses("2") },
      ],
    },
    want: { cpu: 2500, pods: 1000 },
  },
  {
    name: "overhead is added",
    spec: { containers: [{ name: "a", resources: uses("1") }], overhead: { cpu: "250m" } },
    want: { cpu: 1250, pods: 1000 },
  },
  {
    name: "pod-level resources replace the sum of what they name",
    spec: { containers: [{ name: "a", resources: uses("1", "1Ki") }], resources: { requests: { cpu: "2" } }, overhead: { cpu: "1" } },
    want: { cpu: 3000, memory: 1_024_000, pods: 1000 },
  },
  {
    name: "limits do not count, because the API server copies them into requests",
    spec: { containers: [{ name: "a", resources: { limits: { memory: "1Gi" }, requests: { "nvidia.com/gpu": 1 } } }] },
    want: { "nvidia.com/gpu": 1000, pods: 1000 },
  },
])("the requests of a pod: $name", ({ spec, want }) => {
  expect(podRequests({ spec })).toEqual(want);
});

it.for([
  {
    name: "a limit stands for a missing request, as the API server fills it in",
    spec: {
      containers: [{ name: "a", resources: { limits: { cpu: "1", memory: "1Ki" }, requests: { cpu: "500m" } } }],
      initContainers: [{ name: "i", resources: { limits: { cpu: "600m" } } }],
    },
    want: { cpu: 600, memory: 1_024_000, pods: 1000 },
  },
  {
    name: "a pod-level limit stands for a missing request of a resource that no container requests",
    spec: { containers: [{ name: "a", resources: uses("1") }], resources: { limits: { cpu: "4", memory: "1Ki" } } },
    want: { cpu: 1000, memory: 1_024_000, pods: 1000 },
  },
  {
    name: "a pod-level limit of huge pages stands for the request, because huge pages cannot be overcommitted",
    spec: {
      containers: [{ name: "a", resources: { requests: { "hugepages-2Mi": "2" } } }],
      resources: { limits: { "hugepages-2Mi": "4" } },
    },
    want: { "hugepages-2Mi": 4000, pods: 1000 },
  },
])("in the pods of a template, $name", ({ spec, want }) => {
  expect(podRequests({ spec: admittedSpec(spec) })).toEqual(want);
});

const resized = (wanted: string, allocated: string, actual: string) => ({
  spec: { containers: [{ name: "a", resources: uses(wanted) }] },
  status: { containerStatuses: [{ name: "a", allocatedResources: { cpu: allocated }, resources: uses(actual) }] },
});

it.for([
  { name: "that shrinks holds what it runs with until the kubelet has taken it back", pod: resized("100m", "1", "1500m"), cpu: 1500 },
  { name: "that shrinks holds what the kubelet has promised", pod: resized("100m", "1500m", "1"), cpu: 1500 },
  { name: "that grows already holds what it asks for", pod: resized("2", "1", "1"), cpu: 2000 },
  { name: "whose kubelet reports no resources holds its requests", pod: { ...resized("1", "2", "2"), status: {} }, cpu: 1000 },
  {
    name: "whose resize is infeasible holds what it has",
    pod: {
      ...resized("64", "1", "1"),
      status: {
        ...resized("64", "1", "1").status,
        conditions: [{ type: "PodResizePending", status: "True" as const, reason: "Infeasible" }],
      },
    },
    cpu: 1000,
  },
  {
    name: "with a sidecar that shrinks holds what the sidecar runs with",
    pod: {
      spec: { containers: [], initContainers: [{ name: "s", restartPolicy: "Always", resources: uses("100m") }] },
      status: { initContainerStatuses: [{ name: "s", resources: uses("1") }] },
    },
    cpu: 1000,
  },
  {
    name: "with a finished init container holds nothing more for it",
    pod: {
      spec: { containers: [{ name: "a", resources: uses("1") }], initContainers: [{ name: "i", resources: uses("100m") }] },
      status: { initContainerStatuses: [{ name: "i", resources: uses("3") }] },
    },
    cpu: 1000,
  },
  {
    name: "whose pod-level resources shrink holds what was allocated",
    pod: {
      spec: { containers: [], resources: uses("1") },
      status: { allocatedResources: { cpu: "2" }, resources: uses("1500m") },
    },
    cpu: 2000,
  },
])("a pod $name", ({ pod, cpu }) => {
  expect(podRequests(pod)).toEqual({ cpu, pods: 1000 });
});

it("a pod that holds what it requests is counted by its own spec, so that equal pods stay one class", () => {
  const pod = resized("1", "1", "1");
  expect(countedSpec(pod)).toBe(pod.spec);
});
