import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CLAIM_UID_TAG } from "#core/model/tags.ts";
import { apply, deployment, PATIENTLY } from "../e2e/arrange.ts";
import { CLUSTER } from "../e2e/stage.ts";
import { type AwsTarget, awsRequest } from "../e2e/support/aws-call.ts";
import { projectRoot } from "../e2e/support/paths.ts";
import { checkOut } from "../e2e/support/previous.ts";
import { CLASS, pool } from "../versus/courses/objects.ts";
import { type Account, unlessDoctorAsksMore } from "./account.ts";
import type { Check } from "./check.ts";
import { alive, settled } from "./seen.ts";

/** Between two changes of the number of pods. */
const CHANGE_MS = 15_000;

/** A release is upgraded by the command of this one, while pods come and go. */
export async function upgradeWhilePodsComeAndGo({ stage, ministack, run, config }: Account, check: Check): Promise<void> {
  const node = join(projectRoot, "node_modules/.bin/node");
  const older = checkOut();
  execFileSync(node, [join(older, "infra/build.ts")], { stdio: "ignore" });
  const scale = (replicas: number): Promise<string> => stage.cluster.kubectl("scale", "deployment/apart", `--replicas=${replicas}`);
  await check("the older release is installed, and launches a machine for each of 2 pods", async () => {
    await run(["install", "--cluster", CLUSTER, "--config", config], older);
    await apply(stage, CLASS, pool("default", { policy: "WhenEmpty", consolidateAfter: "5s" }));
    await stage.cluster.kubectl("wait", "--for=condition=Ready", "nodepool", "--all", PATIENTLY);
    await apply(stage, deployment("apart", 2, { apart: true }));
    await settled(stage, 2);
  });
  const before = await codeOf(ministack);
  let replicas = 2;
  let isOver = false;
  const changing = (async () => {
    for (const wanted of [4, 1, 5, 3, 6, 2, 5, 3]) {
      if (isOver) break;
      replicas = wanted;
      await scale(wanted);
      await sleep(CHANGE_MS);
    }
  })();
  await check("a dry run shows what CloudFormation would change, and changes nothing", async () => {
    const said = await run(["upgrade", "--cluster", CLUSTER, "--config", config, "--dry-run"]);
    if (!/changed +function \S+-provision/.test(said)) throw new Error("it does not name the function provision");
  });
  await check("upgrade shows and makes the change while pods come and go; it asks nobody for --yes", async () => {
    await run(["upgrade", "--cluster", CLUSTER, "--config", config, "--yes"]).catch(unlessDoctorAsksMore);
    isOver = true;
    await changing;
  });
  await check("all functions have other code than before", async () => {
    const after = await codeOf(ministack);
    const same = [...before].filter(([name, hash]) => after.get(name) === hash).map(([name]) => name);
    if (before.size === 0 || same.length > 0 || after.size !== before.size)
      throw new Error(`${same.join(", ")} of ${after.size} have the same`);
  });
  await check("every pod runs on a machine of its own, none was launched twice, and none is left over", async () => {
    await settled(stage, replicas);
    // What was launched together with others has the tag of its own once its node is initialized.
    const launches = [...stage.fake.state.instances.values()].flatMap(({ tags }) => tags.get(CLAIM_UID_TAG) ?? []);
    if (new Set(launches).size !== launches.length) throw new Error(`${launches.length} launches for ${new Set(launches).size} NodeClaims`);
    console.log(`        ${launches.length} machines were launched, ${alive(stage).length} run`);
  });
  await check("repeated without a settings file, which the stack keeps now, it has nothing to change", async () => {
    const said = await run(["upgrade", "--cluster", CLUSTER, "--dry-run"]);
    if (!said.includes("is as this release has it")) throw new Error(said);
  });
  await check("at 0 replicas nothing is left", async () => {
    await scale(0);
    await settled(stage, 0);
  });
}

/** The hash of each function's code, by its name. */
async function codeOf(target: AwsTarget): Promise<ReadonlyMap<string, string>> {
  const text = await awsRequest(target, "lambda", { method: "GET", path: "/2015-03-31/functions/" });
  const { Functions } = JSON.parse(text) as {
    readonly Functions: readonly { readonly FunctionName: string; readonly CodeSha256: string }[];
  };
  return new Map(Functions.map(({ FunctionName, CodeSha256 }) => [FunctionName, CodeSha256]));
}
