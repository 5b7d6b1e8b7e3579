import { describe, expect, it } from "vitest";
import type { Condition } from "#core/model/kubernetes.ts";
import { faultsOf } from "#core/repair/health.ts";
import { at, NOW, node } from "../../support/builders.ts";

const MINUTE = 60;
const HOUR = 3_600;

function faults(...states: readonly Partial<Condition>[]) {
  const conditions = states.map((state): Condition => ({ type: "Ready", status: "True", lastTransitionTime: at(HOUR), ...state }));
  const metadata = { name: "n", creationTimestamp: at(2 * HOUR) };
  return faultsOf({ ...node(), metadata, status: { conditions } }).map(({ condition, dueAt, drainMs }) => {
    return `${condition} ${(dueAt - (NOW - HOUR * 1_000)) / 60_000} ${drainMs / 60_000}`;
  });
}

const gpu = (reason: string) => ({ type: "AcceleratedHardwareReady", status: "False", reason }) as const;

describe("the faults of a node: condition, toleration and bound of the drain in minutes", () => {
  it.for([
    { name: "none of a healthy node", states: [{ type: "Ready", status: "True" }], want: [] },
    { name: "a kubelet that is not ready", states: [{ status: "False" }], want: ["Ready 30 10"] },
    { name: "a kubelet that is silent", states: [{ status: "Unknown" }], want: ["Ready 30 10"] },
    { name: "storage", states: [{ type: "StorageReady", status: "False" }], want: ["StorageReady 30 10"] },
    { name: "network", states: [{ type: "NetworkingReady", status: "False" }], want: ["NetworkingReady 30 10"] },
    { name: "kernel", states: [{ type: "KernelReady", status: "False" }], want: ["KernelReady 30 10"] },
    { name: "container runtime", states: [{ type: "ContainerRuntimeReady", status: "False" }], want: ["ContainerRuntimeReady 30 10"] },
    { name: "a GPU that a reboot helps", states: [gpu("NvidiaXID63Error")], want: ["AcceleratedHardwareReady 10 5"] },
    { name: "a GPU that is broken", states: [gpu("XID79")], want: ["AcceleratedHardwareReady 10 5"] },
    { name: "a GPU fault of a code that is not named", states: [gpu("NvidiaXID13Error")], want: ["AcceleratedHardwareReady 30 10"] },
    { name: "a GPU fault without a reason", states: [gpu("")], want: ["AcceleratedHardwareReady 30 10"] },
    { name: "none of a condition that is only Unknown", states: [{ type: "StorageReady", status: "Unknown" }], want: [] },
    { name: "none of pressure", states: [{ type: "MemoryPressure", status: "True" }], want: [] },
    {
      name: "the one that is due first comes first",
      states: [{ status: "Unknown" }, gpu("XID74")],
      want: ["AcceleratedHardwareReady 10 5", "Ready 30 10"],
    },
  ] as const)("$name", ({ states, want }) => {
    expect(faults(...states)).toEqual(want);
  });

  it("a condition without a time, or older than its node, begins with the node", () => {
    const status = { conditions: [{ type: "Ready", status: "False" as const }] };
    const [fault] = faultsOf({ ...node(), metadata: { name: "n", creationTimestamp: at(10 * MINUTE) }, status });
    expect(fault?.dueAt).toBe(NOW + 20 * MINUTE * 1_000);
  });
});
