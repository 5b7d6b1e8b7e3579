import { describe, expect, it } from "vitest";
import type { Lab } from "#lab/host.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { NODE_CLASS } from "../simulation/story.ts";
import { INFLATE, ids, MINUTE, POOL, pass, ready, runningPods, SECOND, scale, until } from "../support/lab-story.ts";

type Spec = Readonly<Record<string, unknown>>;

/** The NodePool with another spec. */
const pool = (change: Spec): ApiObject => ({ ...POOL, spec: { ...(POOL["spec"] as Spec), ...change } }) as ApiObject;
const limited = (cpu: number): ApiObject => pool({ limits: { cpu: String(cpu) } });

/** The reasons of the plans so far, in order. */
const plans = (lab: Lab): readonly string[] =>
  lab.log.filter(({ message }) => message.startsWith("computing scheduling decision")).map(({ fields }) => String(fields["reason"]));
const errors = (lab: Lab): readonly string[] => lab.log.filter(({ level }) => level === "error").map(({ message }) => message);

describe("nobody waits for the sweep", () => {
  it("a pod of which no wake-up came is planned for when a node is initialized", async () => {
    const lab = await ready([NODE_CLASS, POOL, INFLATE]);
    // Two seconds after a sweep.
    await pass(lab, 57 * SECOND);
    scale(lab, 2);
    await pass(lab, 3 * SECOND);
    lab.wakeUps.provision.faults.lose = (body) => body.includes("PodsUnschedulable") || body.includes("NodeRegistered");
    scale(lab, 60);
    await until(lab, () => plans(lab).length > 1, MINUTE);
    expect(plans(lab)[1]).toMatch(/^default-\w+ is initialized$/);
    await until(lab, () => runningPods(lab) === 60, 2 * MINUTE);
    lab.close();
  });

  it("raised limits are used within seconds", async () => {
    const lab = await ready([NODE_CLASS, limited(2), INFLATE]);
    scale(lab, 10);
    await pass(lab, 3 * MINUTE);
    expect(runningPods(lab)).toBeLessThan(10);
    const before = plans(lab).length;
    lab.world.apply(limited(1_000));
    expect(await until(lab, () => plans(lab).length > before, MINUTE)).toBeLessThanOrEqual(5 * SECOND);
    expect(plans(lab)[before]).toBe("NodePool default changed");
    lab.close();
  });

  it("the limits of a NodeClaim that is removed are used within seconds", async () => {
    const lab = await ready([NODE_CLASS, limited(2), INFLATE]);
    scale(lab, 10);
    await pass(lab, 3 * MINUTE);
    const [name = ""] = lab.world.store.list("NodeClaim").map(({ metadata }) => metadata.name);
    lab.world.delete("NodeClaim", name);
    await until(lab, () => plans(lab).includes(`${name} is removed`), 5 * MINUTE);
    await until(lab, () => runningPods(lab) > 0, 2 * MINUTE);
    lab.close();
  });

  it("another consolidateAfter is followed within seconds", async () => {
    const disruption = (consolidateAfter: string): Spec => ({
      disruption: { ...((POOL["spec"] as Spec)["disruption"] as Spec), consolidationPolicy: "WhenEmptyOrUnderutilized", consolidateAfter },
    });
    const lab = await ready([NODE_CLASS, pool(disruption("3h")), INFLATE]);
    scale(lab, 3);
    await pass(lab, 2 * MINUTE);
    scale(lab, 0);
    await pass(lab, 10 * MINUTE);
    expect(ids(lab)).toHaveLength(1);
    lab.world.apply(pool(disruption("0s")));
    const decided = () => lab.log.some(({ message }) => message === "decided on a disruption, to be validated");
    expect(await until(lab, decided, MINUTE)).toBeLessThanOrEqual(5 * SECOND);
    lab.close();
  });

  it("an expired NodeClaim ends when it expires", async () => {
    const template = (POOL["spec"] as { template: { spec: Spec } }).template;
    const lab = await ready([NODE_CLASS, pool({ template: { ...template, spec: { ...template.spec, expireAfter: "10m30s" } } }), INFLATE]);
    scale(lab, 1);
    await until(lab, () => runningPods(lab) === 1, 2 * MINUTE);
    const [claim] = lab.world.store.list("NodeClaim");
    const expiry = Date.parse(claim?.metadata.creationTimestamp ?? "") + 10.5 * MINUTE;
    await until(lab, () => lab.log.some(({ message }) => message === "deleting expired nodeclaim"), 15 * MINUTE);
    const at = lab.log.find(({ message }) => message === "deleting expired nodeclaim")?.at ?? 0;
    expect(at - expiry).toBeLessThanOrEqual(2 * SECOND);
    lab.close();
  });
});

describe("a burst is planned whole", () => {
  it("pods that come one after another are planned for together, once no more come", async () => {
    const lab = await ready([NODE_CLASS, POOL, INFLATE]);
    for (let replicas = 10; replicas <= 100; replicas += 10) {
      scale(lab, replicas);
      await pass(lab, 0.4 * SECOND);
    }
    await pass(lab, 5 * SECOND);
    expect(plans(lab)).toHaveLength(1);
    await until(lab, () => runningPods(lab) === 100, 2 * MINUTE);
    lab.close();
  });

  it("pods that never stop coming are planned for after the longest time", async () => {
    const lab = await ready([NODE_CLASS, POOL, INFLATE]);
    for (let replicas = 1; replicas <= 60; replicas += 1) {
      scale(lab, replicas);
      await pass(lab, 0.4 * SECOND);
    }
    expect(plans(lab).length).toBeGreaterThanOrEqual(2);
    expect(plans(lab).length).toBeLessThanOrEqual(3);
    lab.close();
  });
});

describe("pods that no node can take", () => {
  it("lead to no plans beyond those of the sweep once no NodeClaim is on its way", async () => {
    const lab = await ready([NODE_CLASS, limited(8), INFLATE]);
    scale(lab, 40);
    await pass(lab, 5 * MINUTE);
    const before = plans(lab).length;
    await pass(lab, 30 * MINUTE);
    expect(
      plans(lab)
        .slice(before)
        .every((reason) => reason === "sweep"),
    ).toBe(true);
    expect(plans(lab).length - before).toBeLessThanOrEqual(31);
    lab.close();
  });

  it("are no error in the log while a NodeClaim is on its way, and an error a minute later", async () => {
    const lab = await ready([NODE_CLASS, limited(8), INFLATE]);
    scale(lab, 40);
    await pass(lab, 5 * SECOND);
    expect(errors(lab)).toEqual([]);
    expect(lab.log.map(({ message }) => message)).toContain("pod(s) wait for nodeclaims on their way");
    await pass(lab, 2 * MINUTE);
    expect(errors(lab)).toContain("could not schedule pod");
    lab.close();
  });
});

it("a tenant with many pods that fit nowhere hides from nobody why other pods wait", async () => {
  const lab = await ready([NODE_CLASS, POOL]);
  const waits = (namespace: string, name: string): ApiObject => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace },
    spec: { nodeSelector: { "example.com/nowhere": "x" }, containers: [{ name: "c", image: "c", resources: { requests: { cpu: "1" } } }] },
  });
  for (const name of ["a-team", "z-team"]) lab.world.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  for (let i = 0; i < 15; i++) lab.world.apply(waits("a-team", `a${i}`));
  lab.world.apply(waits("z-team", "z"));
  await pass(lab, 20 * SECOND);
  const told = lab.world.events.filter(({ reason }) => reason === "FailedScheduling").map(({ about }) => about.metadata.namespace);
  expect(told.filter((namespace) => namespace === "a-team")).not.toEqual([]);
  expect(told).toContain("z-team");
  lab.close();
});
