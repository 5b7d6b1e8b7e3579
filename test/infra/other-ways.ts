import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { removeDir } from "../e2e/support/child.ts";
import { settledStack } from "../e2e/support/deploy.ts";
import { type MiniStack, startMiniStack } from "../e2e/support/ministack.ts";
import { projectRoot, withProjectNode } from "../e2e/support/paths.ts";
import { DOCUMENTED } from "../support/documented.ts";
import { samPrograms } from "./sam-programs.ts";

/**
 * Deploys the stack by each way of docs/deploy.md that is not `install`, with the command lines that stand there: the
 * CDK's own CLI with its bootstrap, and SAM's CLI, each into an empty account of MiniStack:
 * `node test/infra/other-ways.ts`. Prints what was typed and "N passed, N failed".
 */

const PAGE = "docs/deploy.md";

/** The first line of the page that begins with these words. */
function documented(beginning: string): string {
  const found = DOCUMENTED.find(({ page, line }) => page === PAGE && line.startsWith(beginning));
  if (found === undefined) throw new Error(`${PAGE} has no command that begins with "${beginning}"`);
  return found.line;
}

/** Runs a command line against the account. Rejects with its output when it fails. */
async function type(line: string, { url, region, accountId }: MiniStack): Promise<string> {
  console.log(`        $ ${line}`);
  const env = withProjectNode({
    ...process.env,
    ...{ AWS_ENDPOINT_URL: url, AWS_REGION: region, AWS_DEFAULT_REGION: region },
    ...{ AWS_ACCESS_KEY_ID: accountId, AWS_SECRET_ACCESS_KEY: "test", SAM_CLI_TELEMETRY: "0" },
  });
  const child = spawn("sh", ["-c", line], {
    cwd: projectRoot,
    env: { ...env, PATH: `${env["PATH"]}${delimiter}${samPrograms()}` },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => (output += part.toString()));
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`${line} ended with ${code}: ${output.slice(-2_000)}`);
  return output;
}

const WAYS: Readonly<Record<string, (account: MiniStack) => Promise<void>>> = {
  "the CDK's CLI, after its bootstrap": async (account) => {
    await type(documented("npm run -s synth"), account);
    await type(documented("npx -y aws-cdk@2.1148.1 bootstrap"), account);
    // A person is asked, and there is none.
    await type(`${documented("npx -y aws-cdk@2.1148.1 deploy")} --require-approval never`, account);
  },
  "SAM's CLI": async (account) => {
    await type(documented("npm run -s sam"), account);
    await type(documented("sam deploy"), account);
  },
};

let [passed, failed] = [0, 0];
for (const [name, deploy] of Object.entries(WAYS)) {
  const began = performance.now();
  const dataDir = mkdtempSync(join(tmpdir(), "other-ways-"));
  const account = await startMiniStack({ dataDir });
  try {
    await deploy(account);
    const { Version, TableName, NotifyUrl, Clusters } = await settledStack(account, "karpenter-serverless");
    if (Clusters !== "my-cluster" || !TableName?.startsWith("karpenter-serverless-") || NotifyUrl === undefined || Version === undefined)
      throw new Error(`the stack's outputs are not those of my-cluster: ${JSON.stringify({ Version, TableName, NotifyUrl, Clusters })}`);
    passed += 1;
    console.log(`ok      ${name} (${((performance.now() - began) / 1_000).toFixed(1)} s)`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await account.stop();
    removeDir(dataDir);
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
