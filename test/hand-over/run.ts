import { DIST } from "#infra/dist.ts";
import { bundleFunctions } from "../e2e/deployment.ts";
import { startAccount } from "./account.ts";
import { tally } from "./check.ts";
import { karpenterAndBack } from "./karpenter-and-back.ts";
import { upgradeWhilePodsComeAndGo } from "./upgrade.ts";

/*
 * `npm run verify -- hand-over [PLAY...] [--keep]`: a cluster with running pods gets another autoscaler, by the
 * commands that a person types, on a real control plane; EC2 and the kubelets are stand-ins. In: names of plays, all by
 * default; --keep keeps the logs. Out: what the commands print, a line for each check, and `N passed, N failed` last.
 */

const PLAYS = { karpenter: karpenterAndBack, upgrade: upgradeWhilePodsComeAndGo };

const args = process.argv.slice(2);
const wanted = args.filter((arg) => arg !== "--keep");
const unknown = wanted.find((name) => !(name in PLAYS));
if (unknown !== undefined) {
  console.error(`There is no play "${unknown}"; give any of ${Object.keys(PLAYS).join(", ")}, or none for all.`);
  process.exit(2);
}

const { check, passed, failed } = tally();
const began = performance.now();
await bundleFunctions(DIST);
for (const [name, play] of Object.entries(PLAYS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const account = await startAccount(args.includes("--keep"));
  try {
    await play(account, check);
  } catch (error) {
    // A check that fails is counted; what a play does between its checks is told here.
    if (failed() === 0) await check(`what ${name} does between its checks`, () => Promise.reject(error)).catch(() => {});
  } finally {
    await account.stop().catch((error: unknown) => console.log(String(error)));
  }
}
console.log(`in ${((performance.now() - began) / 1_000).toFixed(0)} s\n${passed()} passed, ${failed()} failed`);
process.exitCode = failed() === 0 ? 0 : 1;
