import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { FUNCTION_NAMES } from "#infra/functions.ts";
import { apply, applyPool, deployment, quickly, reset, scale, unlimited } from "../arrange.ts";
import { bundleFunctions, STACK } from "../deployment.ts";
import { allUp, LONG, launchedOnce, list } from "../observe.ts";
import { check, count, expect, figure } from "../report.ts";
import { bundlePrevious, PREVIOUS, replaceCode } from "../support/previous.ts";
import { eventually } from "../support/wait.ts";
import type { E2eWorld } from "../world.ts";

/**
 * The functions that share records and messages. The others read nothing that another version has written, or are not
 * deployed.
 */
const APART: readonly string[] = ["admission", "notify", "metrics"];
const REPLACED = FUNCTION_NAMES.filter((name) => !APART.includes(name));

/** Between two exchanges of code while both versions run at once. */
const EXCHANGE_EVERY_MS = 10_000;

/**
 * An upgrade, a downgrade, and both versions at once, each while nodes are launched or removed. Records, commands and
 * messages of one version are then finished by the other.
 */
export async function upgradeStory(world: E2eWorld): Promise<void> {
  const [older, newer] = [await bundlePrevious(join(world.dataDir, "previous")), await bundleFunctions(join(world.dataDir, "dist"))];
  const use = (bundles: string, names: readonly string[] = REPLACED) => replaceCode(world.ministack, STACK, bundles, names);
  const before = new Set(world.fake.state.instances.keys());
  await world.registerWebhook();
  await use(older);
  await check(`with the functions of ${PREVIOUS} a NodePool becomes Ready`, () => applyPool(world, "default", quickly, unlimited));
  await apply(world, deployment("apart", 0, { apart: true }));

  /** Scales, exchanges the code as soon as work has begun, and waits for the end. */
  const during = async (from: number, to: number, exchange: () => Promise<void>): Promise<void> => {
    const began = Date.now();
    await scale(world, "apart", to);
    await eventually(
      "nodes come or go",
      async () => {
        const claims = await list(world, "nodeclaims");
        return to > from ? claims.length > from : claims.some(({ metadata }) => metadata.deletionTimestamp !== undefined);
      },
      { timeoutMs: LONG, everyMs: 100 },
    );
    await exchange();
    await allUp(world, to);
    figure(`from ${from} to ${to} machines with an exchange of the code`, Date.now() - began);
  };

  await check("an upgrade while nodes are launched: each pod runs on its own machine", () => during(0, 4, () => use(newer)));
  await check("a downgrade while nodes are removed: the rest stays", () => during(4, 2, () => use(older)));
  await check("old and new functions at once, up and down", async () => {
    let done = false;
    let exchanges = 0;
    const exchanging = (async () => {
      while (!done) {
        const isOdd = exchanges++ % 2 === 1;
        await use(
          older,
          REPLACED.filter((_, i) => (i % 2 === 1) === isOdd),
        );
        await use(
          newer,
          REPLACED.filter((_, i) => (i % 2 === 1) !== isOdd),
        );
        await sleep(EXCHANGE_EVERY_MS);
      }
    })();
    try {
      for (const machines of [5, 3]) {
        await scale(world, "apart", machines);
        await allUp(world, machines);
      }
    } finally {
      done = true;
      await exchanging;
    }
    count("exchanges of half of the functions", exchanges);
  });
  await use(newer);
  await check("no claim was launched twice, and nothing is left", async () => {
    count("machines launched by two versions", launchedOnce(world, before));
    await scale(world, "apart", 0);
    await reset(world);
    await world.removeWebhook();
    expect((await world.items("claim#")) + (await world.items("command#")) === 0, () => "records are left");
  });
}
