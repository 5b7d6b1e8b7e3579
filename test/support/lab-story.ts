import { expect } from "vitest";
import type { RequestPace } from "#core/model/request-pace.ts";
import { createLab, type Lab, type LabOptions } from "#lab/host.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { CATALOGUE, deployment, FAMILIES, NODE_CLASS, nodePool, ON_DEMAND, SPOT, START } from "../simulation/story.ts";

/** What the stories of the lab share: initial objects, ways to pass virtual time, and questions about the state. */

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const POOL = nodePool([ON_DEMAND, FAMILIES]);
export const SPOT_POOL = nodePool([SPOT, FAMILIES]);
export const INFLATE = deployment(0, { cpu: "1" });

/** Under the times of AWS; a test that needs none of them asks for the world "fast". */
export const OPTIONS: LabOptions = { seed: 1, start: START, region: "us-west-2", world: "aws", sources: ["notify"], catalogue: CATALOGUE };

/** A lab whose EC2NodeClass and NodePool are Ready. */
export async function ready(objects: readonly ApiObject[], options: Partial<LabOptions> = {}): Promise<Lab> {
  return start(createLab({ ...OPTIONS, ...options }), objects);
}

/** Applies objects and lets the first sweeps pass. */
export async function start(lab: Lab, objects: readonly ApiObject[]): Promise<Lab> {
  for (const object of objects) lab.world.apply(object);
  await pass(lab, 65 * SECOND);
  return lab;
}

export const pass = (lab: Lab, ms: number): Promise<unknown> => lab.world.clock.run({ until: lab.world.clock.now() + ms });

/** Passes time, one second at a time, until `holds()`; fails when that takes more than `ms`. Returns the ms it took. */
export async function until(lab: Lab, holds: () => boolean, ms: number): Promise<number> {
  const began = lab.world.clock.now();
  while (!holds() && lab.world.clock.now() - began < ms) await pass(lab, SECOND);
  expect(holds()).toBe(true);
  return lab.world.clock.now() - began;
}

export const scale = (lab: Lab, replicas: number): void => lab.world.scale("Deployment", "default", "inflate", replicas);

/** A lab in which this number of pods runs. */
export async function running(
  replicas: number,
  objects: readonly ApiObject[] = [NODE_CLASS, POOL, INFLATE],
  options: Partial<LabOptions> = {},
): Promise<Lab> {
  const lab = await ready(objects, options);
  scale(lab, replicas);
  await pass(lab, 2 * MINUTE);
  expect(runningPods(lab)).toBe(replicas);
  return lab;
}

/** Instances that are not terminated. */
export const alive = (lab: Lab) => lab.cloud.machines().filter(({ instance }) => !["terminated", "shutting-down"].includes(instance.state));
export const ids = (lab: Lab): readonly string[] => alive(lab).map(({ instance }) => instance.id);
export const names = (lab: Lab, kind: string): readonly string[] => lab.world.store.list(kind).map(({ metadata }) => metadata.name);
export const records = (lab: Lab) => lab.deps.store.list(lab.world.cluster);
export const messages = (lab: Lab): readonly string[] => lab.log.map(({ message }) => message);
export const line = (lab: Lab, message: string) => lab.log.find((record) => record.message === message);
export const reasons = (lab: Lab): readonly string[] => lab.world.events.map(({ reason }) => reason);

export const podsOf = (lab: Lab) =>
  lab.world.store.list("Pod") as readonly (ApiObject & { readonly status?: { phase?: string }; readonly spec?: { nodeName?: string } })[];
export const runningPods = (lab: Lab): number => podsOf(lab).filter(({ status }) => status?.phase === "Running").length;

/** Instances, NodeClaims and records agree one to one, and their number is `machines`. */
export async function expectAccountedFor(lab: Lab, machines: number): Promise<void> {
  expect(ids(lab)).toHaveLength(machines);
  expect(names(lab, "Node")).toHaveLength(machines);
  expect(names(lab, "NodeClaim")).toHaveLength(machines);
  expect((await records(lab)).map(({ instance }) => instance?.id).sort()).toEqual([...ids(lab)].sort());
}

const BUCKET = "own/us-west-2/CreateFleet";

/** The table says from now on that another function of the stack has used the bucket for CreateFleet up. */
export async function usedUp({ deps, world }: Lab, fields: Partial<RequestPace> = {}): Promise<void> {
  const now = world.clock.now();
  const state: RequestPace = { version: 0, tokens: -40, countedAt: now, share: 0.9, sharedAt: 0, toldUntil: 0, ...fields };
  const standing = await deps.store.swapPace(BUCKET, state);
  if (standing !== undefined && standing !== "nothing") await deps.store.swapPace(BUCKET, { ...state, version: standing.version });
}
