import { describe, expect, it } from "vitest";
import type { CapacityBuffer } from "#core/model/capacity-buffer.ts";
import type { Lab } from "#lab/host.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { NODE_CLASS } from "../simulation/story.ts";
import { buffer, podTemplate } from "../support/buffers.ts";
import {
  expectAccountedFor,
  INFLATE,
  ids,
  line,
  MINUTE,
  messages,
  names,
  POOL,
  pass,
  ready,
  runningPods,
  SECOND,
  scale,
  until,
} from "../support/lab-story.ts";

const ROOM = podTemplate({ cpu: "1" }) as unknown as ApiObject;
const SPARE = buffer({ podTemplateRef: { name: "room" }, replicas: 1 }, {}) as ApiObject;
const GATE = { settings: { capacityBuffer: true } };

/** A cluster that keeps room for one pod of 1 cpu. */
async function withRoom(spare: ApiObject = SPARE): Promise<Lab> {
  const lab = await ready([NODE_CLASS, POOL, INFLATE, ROOM], GATE);
  lab.world.apply(spare);
  await pass(lab, 2 * MINUTE);
  return lab;
}

function status(lab: Lab): Record<string, string | number | undefined> {
  const { status: found } = lab.world.store.get("CapacityBuffer", "spare", "default") as CapacityBuffer;
  return { replicas: found?.replicas, ...Object.fromEntries((found?.conditions ?? []).map(({ type, reason }) => [type, reason ?? ""])) };
}

const FITS = { replicas: 1, ReadyForProvisioning: "Resolved", Provisioning: "FitsExistingCapacity" };

describe("a CapacityBuffer", () => {
  it("has its room within a minute of kubectl apply, and its status shows it", async () => {
    const lab = await withRoom();
    await expectAccountedFor(lab, 1);
    expect(status(lab)).toEqual(FITS);
    lab.close();
  });

  it("wakes the planner at once", async () => {
    const lab = await ready([NODE_CLASS, POOL, ROOM], GATE);
    lab.world.apply(SPARE);
    expect(await until(lab, () => messages(lab).includes("launched nodeclaim"), MINUTE)).toBeLessThan(5 * SECOND);
    expect(status(lab)).toMatchObject({ Provisioning: "RequiresNewCapacity" });
    lab.close();
  });

  it("does nothing while its gate is off", async () => {
    const lab = await ready([NODE_CLASS, POOL, ROOM, SPARE]);
    await pass(lab, 3 * MINUTE);
    await expectAccountedFor(lab, 0);
    expect(status(lab)).toEqual({ replicas: undefined });
    expect(lab.calls.get("kubernetes.updateStatus")).toBeLessThan(10);
    lab.close();
  });

  it("keeps exactly its room as long as it exists", async () => {
    const lab = await withRoom();
    const [first] = ids(lab);
    const writes = lab.calls.get("kubernetes.updateStatus");
    await pass(lab, 15 * MINUTE);
    expect(ids(lab)).toEqual([first]);
    expect(lab.calls.get("kubernetes.updateStatus")).toBe(writes);
    lab.world.delete("CapacityBuffer", "spare", "default");
    await pass(lab, 5 * MINUTE);
    await expectAccountedFor(lab, 0);
    lab.close();
  });

  it("has its room checked twice a minute, however many passes other events have caused", async () => {
    const lab = await withRoom();
    for (let i = 0; i < 12; i++) {
      await lab.deps.wakeUps.wake([{ kind: "disruption", cluster: "lab", cause: "DefinitionChanged", detail: "x" }]);
      await pass(lab, 5 * SECOND);
    }
    const before = lab.invocations.get("disruption") ?? 0;
    await pass(lab, 10 * MINUTE);
    const [sweeps, checks] = [10, 20];
    expect((lab.invocations.get("disruption") ?? 0) - before).toBeLessThanOrEqual(sweeps + checks);
    lab.close();
  });

  it("gives its room to a pod at once, and gets new room", async () => {
    const lab = await withRoom();
    const [first] = names(lab, "Node");
    scale(lab, 1);
    expect(await until(lab, () => runningPods(lab) === 1, MINUTE)).toBeLessThan(10 * SECOND);
    expect(names(lab, "Node")).toEqual([first]);
    await pass(lab, 3 * MINUTE);
    await expectAccountedFor(lab, 2);
    expect(status(lab)).toEqual(FITS);
    scale(lab, 0);
    await pass(lab, 10 * MINUTE);
    await expectAccountedFor(lab, 1);
    lab.close();
  });

  it("shares new nodes with pods that are created with it", async () => {
    const lab = await ready([NODE_CLASS, POOL, INFLATE, ROOM], GATE);
    scale(lab, 2);
    lab.world.apply({ ...SPARE, spec: { podTemplateRef: { name: "room" }, replicas: 1 } });
    await pass(lab, 3 * MINUTE);
    await expectAccountedFor(lab, 1);
    expect(runningPods(lab)).toBe(2);
    lab.close();
  });

  it("grows with the Deployment that it references", async () => {
    const lab = await withRoom({ ...SPARE, spec: { scalableRef: { kind: "Deployment", name: "inflate" }, percentage: 50 } });
    await expectAccountedFor(lab, 0);
    expect(status(lab)).toMatchObject({ replicas: 0, Provisioning: "BufferEmpty" });
    scale(lab, 4);
    await pass(lab, 4 * MINUTE);
    expect(status(lab)).toEqual({ ...FITS, replicas: 2 });
    lab.close();
  });

  it("shows what is wrong in its status, and is read again once that is fixed", async () => {
    const lab = await ready([NODE_CLASS, POOL, SPARE], GATE);
    expect(status(lab)).toMatchObject({ ReadyForProvisioning: "PodTemplateNotFound", Provisioning: "NotReadyForProvisioning" });
    lab.world.apply(ROOM);
    expect(await until(lab, () => ids(lab).length === 1, MINUTE)).toBeLessThan(5 * SECOND);
    lab.close();
  });

  it("is logged as a CapacityBuffer, never as pods", async () => {
    const lab = await withRoom();
    lab.world.apply({
      ...SPARE,
      spec: { podTemplateRef: { name: "room" }, replicas: 1_000 },
      metadata: { ...SPARE.metadata, name: "too-much" },
    });
    lab.world.apply({ ...POOL, spec: { ...(POOL.spec as object), limits: { cpu: "4" } } });
    await pass(lab, 3 * MINUTE);
    expect(line(lab, "found provisionable pod(s)")?.fields["Pods"]).toBe("default/capacity-buffer-spare-1");
    const about = lab.world.events.filter(({ about: { kind } }) => kind === "Pod");
    expect(about).toEqual([]);
    expect(messages(lab)).not.toContain("could not schedule pod");
    lab.close();
  });
});
