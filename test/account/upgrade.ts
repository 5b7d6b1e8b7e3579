import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { CLAIM_UID_TAG } from "#core/model/tags.ts";
import { makeRelease } from "#infra/release/make-release.ts";
import { apply, deployment, PATIENTLY } from "../e2e/arrange.ts";
import { CLUSTER, REGION } from "../e2e/stage.ts";
import { type AwsTarget, awsRequest } from "../e2e/support/aws-call.ts";
import { projectRoot } from "../e2e/support/paths.ts";
import { checkOut, PREVIOUS } from "../e2e/support/previous.ts";
import { alive, podsIn, settled } from "../hand-over/seen.ts";
import { CLASS, pool } from "../versus/courses/objects.ts";
import { asNewcomer, inForm, type Newcomer, nothingLeft, spoken } from "./newcomer.ts";

/**
 * From an older release's tarball to this one's, in an empty folder, while pods come and go and the API server calls
 * the functions' URL; then out again: `node test/account/upgrade.ts [--from COMMIT]`. Schedules run as on AWS. Prints a
 * line for each check and "N passed, N failed".
 */

/** Between two changes of the number of pods: empty machines go meanwhile. */
const CHANGE_MS = 30_000;
const REPLICAS = [5, 1, 6, 0, 4, 2];
const WATCH_MS = 500;

const { values } = parseArgs({ options: { from: { type: "string", default: PREVIOUS } } });

/** The tarball that a commit's own program makes, with the packages of its own package-lock.json. */
function olderRelease(commit: string, out: string): string {
  const files = checkOut(commit);
  const node = join(projectRoot, "node_modules/.bin/node");
  if (!existsSync(join(files, "node_modules")))
    execFileSync("npm", ["ci", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: files, stdio: "ignore" });
  return execFileSync(node, [join(files, "infra/release/main.ts"), "--out", out], { cwd: files, encoding: "utf8" }).split("\n")[0] ?? "";
}

/** How long each pod has waited, ms, by its name; undefined while it waits. A pod that is deleted waits no more. */
function watchPods(stage: Newcomer["stage"]) {
  const began = new Map<string, number>();
  const waited = new Map<string, number | undefined>();
  let isOver = false;
  const watching = (async () => {
    for (; !isOver; await sleep(WATCH_MS)) {
      const now = Date.now();
      const pods = await podsIn(stage).catch(() => []);
      for (const { metadata, status } of pods) {
        const { name } = metadata;
        if (!began.has(name)) began.set(name, now);
        if (waited.get(name) === undefined) waited.set(name, status?.phase === "Running" ? now - (began.get(name) ?? now) : undefined);
      }
    }
  })();
  return async (): Promise<string> => {
    isOver = true;
    await watching;
    const ran = [...waited.values()].filter((ms) => ms !== undefined).sort((a, b) => a - b);
    const seconds = (ms = 0): string => `${(ms / 1_000).toFixed(1)} s`;
    return `${waited.size} pods, ${ran.length} have run, after ${seconds(ran[Math.floor(ran.length / 2)])} in the middle and ${seconds(ran.at(-1))} at most`;
  };
}

/** The hash of each function's code, by its name. */
async function codeOf(target: AwsTarget): Promise<ReadonlyMap<string, string>> {
  const text = await awsRequest(target, "lambda", { method: "GET", path: "/2015-03-31/functions/" });
  const { Functions } = JSON.parse(text) as {
    readonly Functions: readonly { readonly FunctionName: string; readonly CodeSha256: string }[];
  };
  return new Map(Functions.map(({ FunctionName, CodeSha256 }) => [FunctionName, CodeSha256]));
}

await asNewcomer("upgrade", 1, async (newcomer) => {
  const { stage, account, urls, dir, check, type } = newcomer;
  const older = olderRelease(values.from, join(dir, "older"));
  const [newer = ""] = await makeRelease(join(dir, "newer"));
  const npmInstall = (tarball: string): Promise<string> => type(`npm i --silent --no-audit --no-fund --offline ${tarball}`);
  const program = (words: string): Promise<string> => type(`npx karpenter-serverless ${words} --region ${REGION}`);
  const scale = (replicas: number): Promise<string> => stage.cluster.kubectl("scale", "deployment/apart", `--replicas=${replicas}`);

  await check(`the older release (${values.from.slice(0, 7)}) is installed from its tarball`, async () => {
    await npmInstall(older);
    const install = (): Promise<string> => program(`install --cluster ${CLUSTER} --create-node-role --config settings.json`);
    // The first release does not know that CloudFormation shows a stack a moment late. It says "run this again".
    return spoken(await install().catch(install));
  });
  await check("it launches a machine for each of 2 pods", async () => {
    await apply(stage, CLASS, pool("default", { policy: "WhenEmpty", consolidateAfter: "5s" }));
    await stage.cluster.kubectl("wait", "--for=condition=Ready", "nodepool", "--all", PATIENTLY);
    await apply(stage, deployment("apart", 2, { apart: true }));
    await settled(stage, 2);
    return `the API server has called the URL ${urls.answers.length} times`;
  });
  const before = await codeOf(account.ministack);
  const calledBefore = urls.answers.length;
  const waits = watchPods(stage);
  let replicas = 2;
  let isOver = false;
  const changing = (async () => {
    for (let i = 0; !isOver; i += 1) {
      replicas = REPLICAS[i % REPLICAS.length] ?? 0;
      await scale(replicas);
      await sleep(CHANGE_MS);
    }
  })();
  // A check that fails ends the play, and the cluster with it.
  changing.catch(() => {});
  await check("this release's tarball takes its place in the folder, and a dry run changes nothing", async () => {
    await npmInstall(newer);
    const said = await program(`upgrade --cluster ${CLUSTER} --config settings.json --dry-run`);
    if (!/changed +function \S+-provision/.test(said)) throw new Error(`it does not name the function provision:\n${said}`);
    if (JSON.stringify([...(await codeOf(account.ministack))]) !== JSON.stringify([...before]))
      throw new Error("functions have other code");
    return spoken(said);
  });
  await sleep(CHANGE_MS);
  await check("upgrade makes the change while pods come and go", async () => {
    const said = await program(`upgrade --cluster ${CLUSTER} --config settings.json --yes`);
    await sleep(3 * CHANGE_MS);
    isOver = true;
    await changing;
    return spoken(said);
  });
  await check("all functions have other code than before", async () => {
    const after = await codeOf(account.ministack);
    const same = [...before].filter(([name, hash]) => after.get(name) === hash).map(([name]) => name);
    if (before.size === 0 || same.length > 0) throw new Error(`${same.join(", ")} of ${after.size} have the same`);
    return `${before.size} functions before, ${after.size} after`;
  });
  await check("every pod runs on a machine of its own, nothing was launched twice, and nothing is lost", async () => {
    await settled(stage, replicas);
    // What was launched together with others has the tag of its own once its node is initialized.
    const launches = [...stage.fake.state.instances.values()].flatMap(({ tags }) => tags.get(CLAIM_UID_TAG) ?? []);
    if (new Set(launches).size !== launches.length) throw new Error(`${launches.length} launches for ${new Set(launches).size} NodeClaims`);
    return `${launches.length} machines were launched for as many NodeClaims, ${alive(stage).length} run; ${await waits()}`;
  });
  await check("the webhook has been the source of wake-ups, before and after, and was never refused", async () => {
    const during = urls.answers.slice(calledBefore);
    const bad = during.filter((status) => status !== 200);
    if (during.length === 0 || bad.length > 0) throw new Error(`of ${during.length} calls, answered: ${bad.join(", ")}`);
    return `${during.length} calls while pods came and went, each answered with 200`;
  });
  await check("repeated without a settings file, which the stack keeps now, it has nothing to change", async () => {
    const said = await program(`upgrade --cluster ${CLUSTER} --dry-run`);
    if (!said.includes("is as this release has it")) throw new Error(said);
    return "";
  });
  await check("uninstall takes all of it out again, with the pods still there", async () =>
    spoken(await program(`uninstall --cluster ${CLUSTER} --drain`)),
  );
  await check("nothing is left but the table, the bucket and the CRDs", () => nothingLeft(newcomer));
  await check("every call has the form that AWS's own service models describe", () => inForm(account));
});
