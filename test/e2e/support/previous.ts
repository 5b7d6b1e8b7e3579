import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { FUNCTION_NAMES } from "#infra/functions.ts";
import { zipPath } from "#infra/zip.ts";
import { type AwsTarget, awsRequest } from "./aws-call.ts";
import { cacheDir, projectRoot } from "./paths.ts";

/**
 * The commit of version 0.1.0, the release before this version. Newer code must read what it writes, and it must read
 * what newer code writes. Move it with each release.
 */
export const PREVIOUS = "5af01a653baec55673320a40100f2cbbf63a929e";

/** Bundles the functions that the previous version had into a folder, and returns the folder. */
export async function bundlePrevious(dir: string): Promise<string> {
  const files = checkOut();
  const infra = pathToFileURL(join(files, "infra/build.ts")).href;
  const { bundleCode } = (await import(infra)) as typeof import("#infra/build.ts");
  for (const name of FUNCTION_NAMES) if (existsSync(join(files, "functions", name))) await bundleCode(name, dir);
  return dir;
}

/** The files of a commit, by any name of it, below the project, so that they find its node_modules. */
export function checkOut(name = PREVIOUS): string {
  const commit = execFileSync("git", ["rev-parse", "--verify", `${name}^{commit}`], { cwd: projectRoot, encoding: "utf8" }).trim();
  const dir = join(cacheDir("previous"), commit);
  if (existsSync(dir)) return dir;
  const partial = `${dir}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial);
  const archive = execFileSync("git", ["archive", commit], { cwd: projectRoot, maxBuffer: 1e9 });
  execFileSync("tar", ["-x", "-C", partial], { input: archive });
  renameSync(partial, dir);
  return dir;
}

/** Replaces the code of deployed functions by the bundles of a folder, as an update of the stack does. */
export async function replaceCode(target: AwsTarget, stack: string, bundles: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await awsRequest(target, "lambda", {
      method: "PUT",
      path: `/2015-03-31/functions/${stack}-${name}/code`,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ZipFile: zipPath(join(bundles, name)).toString("base64") }),
    });
  }
}
