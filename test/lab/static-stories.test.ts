import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Lab } from "#lab/host.ts";
import { playManifests } from "#lab/play.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { FAMILIES, NODE_CLASS, nodePool, ON_DEMAND } from "../simulation/story.ts";
import {
  alive,
  expectAccountedFor,
  INFLATE,
  ids,
  line,
  MINUTE,
  messages,
  names,
  pass,
  ready,
  running,
  runningPods,
  SECOND,
  scale,
  until,
} from "../support/lab-story.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const STATIC = { settings: { staticCapacity: true } };

/** A static NodePool; two of its nodes may be disrupted at once. */
function fixed(replicas: number, more: object = {}): ApiObject {
  const pool = nodePool([ON_DEMAND, FAMILIES]);
  const { limits: _, disruption, ...spec } = pool["spec"] as { limits: object; disruption: object; template: object };
  return { ...pool, spec: { ...spec, disruption: { ...disruption, budgets: [{ nodes: "2" }] }, replicas, ...more } };
}

const resize = (lab: Lab, replicas: number): void => lab.world.scale("NodePool", undefined, "default", replicas);

/** A lab whose static NodePool has its nodes. */
async function standing(replicas: number, more: object = {}): Promise<Lab> {
  const lab = await ready([NODE_CLASS, fixed(replicas, more)], STATIC);
  await pass(lab, 3 * MINUTE);
  await expectAccountedFor(lab, replicas);
  return lab;
}

describe("a static pool", () => {
  it("has its nodes without any pod, and they are never consolidated", async () => {
    const lab = await standing(3);
    const before = ids(lab);
    await pass(lab, 30 * MINUTE);
    expect(ids(lab)).toEqual(before);
    expect(line(lab, "provisioning nodeclaims to satisfy replica count")?.fields).toMatchObject({ desired: 3, "provision-count": 3 });
    expect((lab.world.store.get("NodePool", "default")?.status as { nodes?: number } | undefined)?.nodes).toBe(3);
    lab.close();
  });

  it("grows and shrinks within seconds of kubectl scale", async () => {
    const lab = await standing(2);
    resize(lab, 5);
    const took = await until(lab, () => names(lab, "NodeClaim").length === 5, MINUTE);
    expect(took).toBeLessThanOrEqual(10 * SECOND);
    await pass(lab, 2 * MINUTE);
    await expectAccountedFor(lab, 5);
    resize(lab, 1);
    await pass(lab, 3 * MINUTE);
    await expectAccountedFor(lab, 1);
    resize(lab, 0);
    await pass(lab, 3 * MINUTE);
    await expectAccountedFor(lab, 0);
    lab.close();
  });

  it("loses nodes without pods first when it shrinks", async () => {
    const lab = await ready([NODE_CLASS, fixed(3), INFLATE], STATIC);
    await pass(lab, 3 * MINUTE);
    scale(lab, 1);
    await pass(lab, 30 * SECOND);
    const [pod] = lab.world.store.list("Pod") as readonly { readonly spec?: { readonly nodeName?: string } }[];
    resize(lab, 1);
    await pass(lab, 3 * MINUTE);
    expect(names(lab, "Node")).toEqual([pod?.spec?.nodeName]);
    lab.close();
  });

  it("replaces a node that is deleted", async () => {
    const lab = await standing(2);
    const [first = ""] = names(lab, "Node");
    lab.world.delete("Node", first);
    await pass(lab, 4 * MINUTE);
    await expectAccountedFor(lab, 2);
    expect(names(lab, "Node")).not.toContain(first);
    lab.close();
  });

  it("replaces drifted nodes one for one, no more at once than its budget allows", async () => {
    const lab = await standing(3);
    const before = ids(lab);
    const most = { machines: 0 };
    lab.cloud.onEvent(() => {
      most.machines = Math.max(most.machines, alive(lab).length);
    });
    const pool = fixed(3);
    const spec = pool["spec"] as { template: object };
    lab.world.apply({ ...pool, spec: { ...spec, template: { ...spec.template, metadata: { labels: { team: "blue" } } } } });
    await pass(lab, 15 * MINUTE);
    expect(ids(lab).filter((id) => before.includes(id))).toEqual([]);
    await expectAccountedFor(lab, 3);
    expect(most.machines).toBeLessThanOrEqual(5);
    lab.close();
  });

  it("stays within limits.nodes, and logs it", async () => {
    const lab = await ready([NODE_CLASS, fixed(4, { limits: { nodes: 2 } })], STATIC);
    await pass(lab, 3 * MINUTE);
    await expectAccountedFor(lab, 2);
    expect(messages(lab)).toContain("nodepool node limit reached");
    lab.close();
  });

  it("waits for capacity when there is none", async () => {
    const lab = await ready([NODE_CLASS], STATIC);
    lab.cloud.outages.push({ until: lab.world.clock.now() + 5 * MINUTE });
    lab.world.apply(fixed(2));
    await pass(lab, 4 * MINUTE);
    await expectAccountedFor(lab, 0);
    await pass(lab, 8 * MINUTE);
    await expectAccountedFor(lab, 2);
    lab.close();
  });

  it("loses its nodes when it is deleted", async () => {
    const lab = await standing(2);
    lab.world.delete("NodePool", "default");
    await pass(lab, 3 * MINUTE);
    await expectAccountedFor(lab, 0);
    lab.close();
  });

  it("has no nodes where StaticCapacity is off", async () => {
    const lab = await ready([NODE_CLASS, fixed(2)]);
    await pass(lab, 5 * MINUTE);
    await expectAccountedFor(lab, 0);
    lab.close();
  });

  it("has room for pods, and pods beyond it get nodes of dynamic pools", async () => {
    const dynamic = { ...nodePool([ON_DEMAND, FAMILIES]), metadata: { name: "dynamic" } };
    const lab = await running(0, [NODE_CLASS, fixed(1), dynamic, INFLATE], STATIC);
    scale(lab, 1);
    await pass(lab, MINUTE);
    expect(runningPods(lab)).toBe(1);
    await expectAccountedFor(lab, 1);
    scale(lab, 8);
    await pass(lab, 3 * MINUTE);
    expect(runningPods(lab)).toBe(8);
    expect(ids(lab).length).toBeGreaterThan(1);
    lab.close();
  });
});

it("a static pool is played from a manifest, and --scale names it", async () => {
  const printed: string[] = [];
  const path = join(temporaryFolder("static"), "pool.json");
  writeFileSync(path, JSON.stringify({ apiVersion: "v1", kind: "List", items: [NODE_CLASS, fixed(1)] }));
  const options = { json: false, colour: false, seed: 1, region: "us-west-2", print: (text: string) => void printed.push(text) };
  await playManifests([path], [{ namespace: "default", name: "default", replicas: 2 }], 2, options);
  const story = printed.join("\n");
  expect(story).toMatch(/provisioning nodeclaims +default +has 0, wants 1/);
  expect(story).toMatch(/kubectl scale nodepool\/default --replicas 2/);
  expect(story).toMatch(/provisioning nodeclaims +default +has 1, wants 2/);
  expect(story).toContain("2 instances");
});
