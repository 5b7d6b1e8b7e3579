import { describe, expect, it } from "vitest";
import type { memoryMetrics } from "#adapters/telemetry/metrics.ts";
import type { Condition } from "#core/model/kubernetes.ts";
import { NotFoundError, RefusedError } from "#core/ports/errors.ts";
import type { Lab, LabOptions } from "#lab/host.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { FAMILIES, NODE_CLASS, nodePool, ON_DEMAND } from "../simulation/story.ts";
import {
  expectAccountedFor,
  INFLATE,
  ids,
  MINUTE,
  names,
  pass,
  reasons,
  running,
  runningPods,
  SECOND,
  until,
} from "../support/lab-story.ts";

const settings = { nodeRepair: true, rebootForRepair: true };
const STILL = nodePool([ON_DEMAND, FAMILIES], { disruption: { consolidateAfter: "Never" } });
/** EC2's reboots of each lab. */
const counts = new WeakMap<Lab, { readonly reboots: number }>();
const reboots = (lab: Lab): number => counts.get(lab)?.reboots ?? 0;

async function story(hooks: NonNullable<LabOptions["hooks"]> = {}): Promise<Lab> {
  const count = { reboots: 0 };
  const after: typeof hooks.after = (call, result) => {
    if (call.method === "reboot") count.reboots++;
    return hooks.after?.(call, result);
  };
  const lab = await running(2, [NODE_CLASS, STILL, INFLATE], { settings, hooks: { ...hooks, after } });
  counts.set(lab, count);
  return lab;
}

/** Sets the condition of a GPU as the node monitoring agent would. */
function accuse(lab: Lab, status: Condition["status"] = "False"): void {
  lab.world.store.patch(
    "Node",
    names(lab, "Node")[0] ?? "",
    undefined,
    { user: "node-monitoring-agent", subresource: "status" },
    (node) => {
      const lastTransitionTime = new Date(lab.world.clock.now()).toISOString();
      const others = (node.status.conditions as readonly Condition[]).filter(({ type }) => type !== "AcceleratedHardwareReady");
      node.status.conditions = [...others, { type: "AcceleratedHardwareReady", status, reason: "NvidiaXID63Error", lastTransitionTime }];
      return node;
    },
  );
}

type Claim = ApiObject & { readonly status?: { readonly conditions?: readonly Condition[] } };
const claimOf = (lab: Lab): Claim | undefined => lab.world.store.list("NodeClaim")[0] as Claim | undefined;
const condition = (lab: Lab, type: string): string => {
  const { status, reason } = claimOf(lab)?.status?.conditions?.find((one) => one.type === type) ?? {};
  return `${status}/${reason}`;
};
const bootOf = (lab: Lab): string =>
  (lab.world.store.list("Node")[0]?.status as { readonly nodeInfo?: { readonly bootID?: string } } | undefined)?.nodeInfo?.bootID ?? "";
const taintsOf = (lab: Lab): readonly string[] =>
  ((lab.world.store.list("Node")[0]?.spec as { readonly taints?: readonly { readonly key: string }[] } | undefined)?.taints ?? []).map(
    ({ key }) => key,
  );
const total = (lab: Lab, ...[name, labels]: Parameters<ReturnType<typeof memoryMetrics>["total"]>): number =>
  (lab.deps.metrics as ReturnType<typeof memoryMetrics>).total(name, labels);

const rebooting = (lab: Lab) => (): boolean => condition(lab, "Rebooting").startsWith("True");

describe("a node with an XID that a reboot clears, under RebootForRepair", () => {
  it("is drained, rebooted once and taken back, with its machine", async () => {
    const lab = await story();
    const before = ids(lab);
    const boot = bootOf(lab);
    accuse(lab);
    await pass(lab, 9 * MINUTE);
    expect(condition(lab, "Rebooting")).toBe("undefined/undefined");
    await until(lab, rebooting(lab), 3 * MINUTE);
    expect(condition(lab, "DisruptionReason")).toBe("True/Unhealthy");
    await until(lab, () => condition(lab, "Rebooting") === "True/RebootIssued", 2 * MINUTE);
    expect([condition(lab, "Initialized"), taintsOf(lab).includes("karpenter.sh/rebooting")]).toEqual(["Unknown/Rebooting", true]);
    // The agent finds the GPU well after the boot.
    await until(lab, () => bootOf(lab) !== boot, 3 * MINUTE);
    accuse(lab, "True");
    await pass(lab, 3 * MINUTE);
    expect(condition(lab, "Rebooting")).toBe("False/RebootSucceeded");
    expect([condition(lab, "Initialized"), condition(lab, "DisruptionReason")]).toEqual(["True/Initialized", "undefined/undefined"]);
    expect(taintsOf(lab)).toEqual([]);
    expect(claimOf(lab)?.metadata.annotations).not.toHaveProperty("karpenter.sh/reboot-pre-boot-id");
    expect(ids(lab)).toContain(before[0]);
    expect([reboots(lab), runningPods(lab)]).toEqual([1, 2]);
    expect(reasons(lab)).toContain("RebootObserved");
    expect(total(lab, "nodes_reboots_total", { result: "succeeded" })).toBe(1);
    expect(total(lab, "voluntary_disruption_decisions_total", { decision: "reboot", reason: "unhealthy" })).toBe(1);
    await pass(lab, 20 * MINUTE);
    expect(reboots(lab)).toBe(1);
    lab.close();
  });

  it("is replaced when two reboots have not helped", async () => {
    const lab = await story();
    const [before] = ids(lab);
    accuse(lab);
    await pass(lab, 80 * MINUTE);
    expect(reboots(lab)).toBe(2);
    expect(ids(lab)).not.toContain(before);
    expect(runningPods(lab)).toBe(2);
    await expectAccountedFor(lab, ids(lab).length);
    lab.close();
  });

  it.for([
    {
      name: "the functions may not reboot",
      error: new RefusedError("UnauthorizedOperation: ec2:RebootInstances"),
      result: "provider_error",
    },
    { name: "EC2 does not find it", error: new NotFoundError("InvalidInstanceID.NotFound"), result: "provider_error" },
    { name: "EC2 does not answer", error: new Error("InternalError: An internal error has occurred"), result: "provider_error" },
  ])("is replaced where $name", async ({ error, result }) => {
    const before = ({ method }: { readonly method: string }) => {
      if (method === "reboot") throw error;
      return undefined;
    };
    const lab = await story({ before });
    const [machine = ""] = ids(lab);
    accuse(lab);
    await pass(lab, 35 * MINUTE);
    expect(ids(lab)).not.toContain(machine);
    expect(reasons(lab)).toContain("RebootFailed");
    expect(total(lab, "nodes_reboots_total", { result })).toBe(1);
    expect(runningPods(lab)).toBe(2);
    lab.close();
  });

  it("counts against the budget while it reboots, and is left alone by other disruptions", async () => {
    const lab = await story();
    accuse(lab);
    await until(lab, rebooting(lab), 12 * MINUTE);
    await pass(lab, 61 * SECOND);
    const gauge = (lab.deps.metrics as ReturnType<typeof memoryMetrics>).records.findLast(
      ({ name, labels }) => name === "nodepools_nodes_consuming_budgets" && labels["reason"] === "Underutilized",
    );
    expect(gauge?.value).toBe(1);
    lab.close();
  });
});

describe("a reboot whose invocation is killed", () => {
  /** How many remote calls with an effect there are from the decision until the reboot is issued. */
  const CALLS = 16;

  it.for(Array.from({ length: CALLS }, (_, i) => i))("after call %i is done once all the same", async (place) => {
    let calls = 0;
    let begun = false;
    const after = ({ method }: { readonly method: string }): "kill" | undefined => {
      if (!begun || /^(get|list|describe|commands|is|document|version|launchGroup|wake)/.test(method)) return undefined;
      return calls++ === place ? "kill" : undefined;
    };
    const lab = await story({ after });
    const [before] = ids(lab);
    const boot = bootOf(lab);
    accuse(lab);
    await pass(lab, 9 * MINUTE + 50 * SECOND);
    begun = true;
    await until(lab, () => bootOf(lab) !== boot, 10 * MINUTE);
    expect(calls).toBeGreaterThan(place);
    begun = false;
    accuse(lab, "True");
    await pass(lab, 4 * MINUTE);
    expect(condition(lab, "Rebooting")).toBe("False/RebootSucceeded");
    expect([reboots(lab), runningPods(lab), ids(lab).includes(before ?? "")]).toEqual([1, 2, true]);
    lab.close();
  });
});
