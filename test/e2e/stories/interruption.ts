import { apply, applyPool, manifest, neverConsolidated, pdb, reset } from "../arrange.ts";
import { alive, callsSince, LONG, lastCall, leastReady, running } from "../observe.ts";
import { check, expect, figure } from "../report.ts";
import { eventually } from "../support/wait.ts";
import type { E2eWorld } from "../world.ts";
import { timeScaleUp } from "./timing.ts";

/** A spot notice through the bus and the queue; the eviction API enforces the PodDisruptionBudget. */
export async function interruptionStory(world: E2eWorld): Promise<void> {
  await world.registerWebhook();
  await check("a spot NodePool becomes Ready", () => applyPool(world, "spot", neverConsolidated));
  await apply(world, pdb("inflate", { minAvailable: 2 }), manifest("inflate-cpu"));
  await check("three pods run on spot", () => timeScaleUp(world, "webhook, spot", "default", "inflate", 3));
  await check("an interrupted node is replaced, then drained, with two pods running all the while", async () => {
    const [victim] = alive(world);
    if (victim === undefined) throw new Error("there is no machine to interrupt");
    const from = Date.now();
    const after = lastCall(world);
    const least = await leastReady(world, async () => {
      world.fake.interrupt(victim.id);
      const ended = () =>
        callsSince(world, after, "TerminateInstances").some(({ params }) => String(params["InstanceIds"]).includes(victim.id));
      await eventually("the machine is ended by us, before EC2 does so", ended, { timeoutMs: LONG });
      figure("interruption: from the notice to TerminateInstances", Date.now() - from);
      await running(world, "default", 3);
      figure("interruption: from the notice to all pods Running elsewhere", Date.now() - from);
    });
    expect(least >= 2, () => `a moment with ${least} ready pods, the budget asks for 2`);
    const replacement = alive(world)[0];
    expect(replacement !== undefined && replacement.id !== victim.id, () => "no other machine");
  });
  await check("all pods gone, all machines gone", async () => {
    await reset(world);
    await world.removeWebhook();
  });
}
