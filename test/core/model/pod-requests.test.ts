import { expect, it } from "vitest";
import { podRequests } from "../../../core/model/pod-requests.ts";

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
  expect(podRequests(spec)).toEqual(want);
});
