import { createLab, type LabOptions } from "#lab/host.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import type { Course as Played } from "../../versus/courses/course.ts";
import { NODE_CLASS, START } from "../story.ts";
import { type Phase, requestCounter } from "./course.ts";

const SECOND = 1_000;

/**
 * Plays a course of `npm run versus` in the lab, and counts the requests of the functions in each act. Machines take
 * the lab's times to start, so an act in which pods come lasts until all of them run.
 */
export async function playVersusCourse({ setting, acts }: Played, options: Partial<LabOptions> = {}): Promise<readonly Phase[]> {
  const counter = requestCounter();
  const lab = createLab({ seed: 1, start: START, region: "us-west-2", sources: ["notify"], hooks: counter.hooks, ...options });
  const pass = (ms: number) => lab.world.clock.run({ until: lab.world.clock.now() + ms });
  // The courses' class is for the end-to-end run's network.
  const objects = (setting as readonly ApiObject[]).map((object) => (object.kind === "EC2NodeClass" ? NODE_CLASS : object));
  for (const object of objects) lab.world.apply(object);
  await pass(65 * SECOND);
  counter.take();
  const phases: Phase[] = [];
  for (const { name, steps, seconds, grows = false } of acts) {
    let spent = 0;
    for (const { at, apply = [], interrupt = 0 } of steps) {
      await pass((at - spent) * SECOND);
      spent = Math.max(spent, at);
      for (const object of apply as readonly ApiObject[]) lab.world.apply(object);
      const spot = lab.cloud.machines().filter(({ instance }) => instance.capacityType === "spot" && instance.state === "running");
      for (const { instance } of spot.slice(0, interrupt)) lab.cloud.interruptSpot(instance.id);
    }
    const waits = (): boolean =>
      lab.world.store.list("Pod").some(({ status }) => (status as { readonly phase?: string } | undefined)?.phase === "Pending");
    await pass(SECOND);
    for (spent++; spent < seconds || (grows && waits() && spent < 10 * seconds); spent++) await pass(SECOND);
    phases.push({ name, seconds: spent, ...counter.take() });
  }
  lab.close();
  return phases;
}
