import { setTimeout as sleep } from "node:timers/promises";
import { type Random, random } from "../../conformance/generate/random.ts";
import { apply, applyPool, deployment, quickly, reset, scale, unlimited } from "../arrange.ts";
import { STACK } from "../deployment.ts";
import { allUp, gone, launchedOnce } from "../observe.ts";
import { check, count, expect, figure } from "../report.ts";
import { invokeFunction } from "../support/deploy.ts";
import { killInvocations } from "../support/killer.ts";
import type { E2eWorld } from "../world.ts";

const KILLS = 50;
/** Maximum kills in one scale-up or scale-down. */
const MOST_AT_ONCE = 25;
const MACHINES = 8;

/**
 * The next sweep continues the work of a killed function. On AWS sweeps run each minute; here they run every few
 * seconds, because fifty recoveries would take an hour.
 */
const SWEEP_EVERY_MS = 5_000;

/**
 * Functions are killed fifty times in the middle of invocations while nodes are launched and removed; the end is the
 * same as without kills.
 */
export async function killStory(world: E2eWorld): Promise<void> {
  const source = random("fifty kills");
  const before = new Set(world.fake.state.instances.keys());
  await world.registerWebhook();
  await check("a NodePool becomes Ready that gives back all empty nodes at once", () =>
    applyPool(world, "default", quickly, unlimited, (text) =>
      text.replace("consolidationPolicy: WhenEmptyOrUnderutilized", 'consolidationPolicy: WhenEmpty\n    budgets: [{ nodes: "100%" }]'),
    ),
  );
  await apply(world, deployment("apart", 0, { apart: true }));
  const dead: string[] = [];
  for (let round = 1; dead.length < KILLS && round <= 10; round++) {
    for (const replicas of [MACHINES, 0]) {
      await check(`scaled to ${replicas} while functions are killed, round ${round}: ${END[replicas === 0 ? "down" : "up"]}`, async () => {
        const from = Date.now();
        const most = Math.min(MOST_AT_ONCE, KILLS - dead.length);
        const killed = await whileKilling(world, source, most, async () => {
          await scale(world, "apart", replicas);
          await (replicas === 0 ? gone(world) : allUp(world, replicas));
        });
        dead.push(...killed);
        figure(`${killed.length} kills: from scaling to ${replicas} to the end state`, Date.now() - from);
      });
    }
  }
  await check(`${KILLS} invocations were killed`, async () => {
    expect(dead.length >= KILLS, () => `${dead.length} kills`);
    for (const name of [...new Set(dead)].sort()) count(`kills of ${name}`, dead.filter((other) => other === name).length);
  });
  await check("no claim was launched twice", async () => {
    count("machines launched under kills", launchedOnce(world, before));
  });
  await check("nothing is left", async () => {
    await reset(world);
    await world.removeWebhook();
  });
}

const END = { up: "all pods run, one claim, record and node for each machine", down: "nothing is left" } as const;

/**
 * Maximum deaths of one function in one transition, except of lifecycle. A planner that dies blocks its cluster for
 * half a minute.
 */
const MAX_DEATHS_OF_ONE = 4;

/** Kills functions and runs sweeps until `transition` is done; returns the functions that died. */
async function whileKilling(world: E2eWorld, source: Random, most: number, transition: () => Promise<void>): Promise<readonly string[]> {
  let done = false;
  const enough = (): boolean => done;
  // Without a NodeClaim, a kill of lifecycle has no effect.
  const mayDie = async (name: string, dead: readonly string[]): Promise<boolean> =>
    name === `${STACK}-lifecycle` ? (await world.items("claim#")) > 0 : dead.filter((other) => other === name).length < MAX_DEATHS_OF_ONE;
  const killing = killInvocations(world.ministack, { random: source, most, enough, mayDie });
  // An error of the killer is thrown after the transition.
  killing.catch(() => {});
  const sweeping = ["provision", "lifecycle", "disruption"].map((name) => sweepOften(world, name, enough));
  try {
    await transition();
  } finally {
    done = true;
    await Promise.all(sweeping);
  }
  return killing;
}

async function sweepOften(world: E2eWorld, name: string, enough: () => boolean): Promise<void> {
  while (!enough()) {
    // A sweep may be killed like any other invocation.
    await invokeFunction(world.ministack, `${STACK}-${name}`, { kind: "sweep" }).catch(() => {});
    for (let waited = 0; waited < SWEEP_EVERY_MS && !enough(); waited += 250) await sleep(250);
  }
}
