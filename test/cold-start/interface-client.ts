import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../e2e/support/child.ts";
import { cacheDir, withProjectNode } from "../e2e/support/paths.ts";

/** Version of AWS's client of the Lambda Runtime API. It compiles a native part, once, in one to two minutes. */
const VERSION = "4.0.2";

/**
 * Installs the interface client under .cache when it is missing; returns its entry. Needs npm, Python 3, a C++
 * compiler, make and cmake.
 */
export async function installInterfaceClient(): Promise<string> {
  const dir = cacheDir("lambda-ric");
  const entry = join(dir, "node_modules", "aws-lambda-ric", "index.mjs");
  const stamp = join(dir, "installed.txt");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === VERSION) return entry;
  // npm runs install scripts only of the packages named here.
  const manifest = { private: true, dependencies: { "aws-lambda-ric": VERSION }, allowScripts: { "aws-lambda-ric": true } };
  writeFileSync(join(dir, "package.json"), JSON.stringify(manifest));
  await run("npm", ["install", "--prefix", dir, "--no-audit", "--no-fund", "--foreground-scripts"], { cwd: dir, env: withProjectNode() });
  if (!existsSync(join(dir, "node_modules", "aws-lambda-ric", "rapid-client.node"))) {
    throw new Error("aws-lambda-ric was installed without its native part; it needs Python 3, a C++ compiler, make and cmake.");
  }
  writeFileSync(stamp, VERSION);
  return entry;
}
