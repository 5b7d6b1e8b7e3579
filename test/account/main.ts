import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { regionCatalogue } from "../e2e/fake-aws/bundled-catalogue.ts";
import { startFakeAws } from "../e2e/fake-aws/fake-aws.ts";
import { removeDir } from "../e2e/support/child.ts";
import { startAccount } from "./account.ts";
import { accountWith, REGION } from "./account-of.ts";
import { commandFaults, documentedCalls } from "./aws-commands.ts";
import { CAUSES, playCause } from "./failed-creates.ts";
import { asPerson } from "./installing.ts";
import { playKills } from "./kills.ts";
import { PRE_FLIGHT } from "./pre-flight.ts";
import { playRestApi, playWay, WAYS } from "./ways-in.ts";

/**
 * `install` in an account that refuses what AWS refuses: `node test/account/main.ts [--kills 20] [--only WORDS]`.
 * Prints a line for each check and "N passed, N failed".
 */

const { values } = parseArgs({ options: { kills: { type: "string", default: "4" }, only: { type: "string", default: "" } } });
const kills = Number(values.kills);
const dir = mkdtempSync(`${tmpdir()}/account-`);
const fake = await startFakeAws({
  catalogue: regionCatalogue(REGION),
  cluster: { name: "c1", version: "1.33", endpoint: "https://127.0.0.1:1", caData: "" },
});
const account = await startAccount({ dataDir: dir, settings: accountWith(), fake, lagMs: 1_000 });
asPerson(account);
let passed = 0;
let failed = 0;
async function check(name: string, play: () => Promise<string>): Promise<void> {
  if (!name.includes(values.only)) return;
  const began = Date.now();
  try {
    const said = await play();
    passed += 1;
    console.log(`ok      ${name} (${((Date.now() - began) / 1_000).toFixed(1)} s)${said === "" ? "" : `\n        ${said}`}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

try {
  for (const [name, play] of PRE_FLIGHT) await check(`a check says what is wrong: ${name}`, () => play(account, fake, dir));
  for (const [name, cause] of Object.entries(CAUSES))
    await check(`a first creation fails because ${name}, leaves nothing, and the next try succeeds`, () => playCause(account, dir, cause));
  for (const [name, way] of Object.entries(WAYS)) await check(`the way in is chosen and kept: ${name}`, () => playWay(account, dir, way));
  await check("a REST API hands the path on without its stage", () => playRestApi(account, dir));
  await check("an installation that is killed ends the same when it is run again", () => playKills(account, dir, kills));
  await check("every command of AWS's own program that documents and sentences name has the form of AWS's service models", async () => {
    const calls = documentedCalls();
    const faults = calls.flatMap(commandFaults);
    if (faults.length > 0 || calls.length < 15) throw new Error(`${calls.length} commands\n${faults.join("\n")}`);
    return `${calls.length} commands`;
  });
  await check("every call has the form that AWS's own service models describe", async () => {
    if (account.shapeFaults.length > 0) throw new Error(account.shapeFaults.join("\n"));
    return `${account.calls.length} calls of ${new Set(account.calls).size} operations`;
  });
} finally {
  await account.stop();
  await fake.close();
  removeDir(dir);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
