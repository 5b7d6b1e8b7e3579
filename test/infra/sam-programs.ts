import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cacheDir } from "../e2e/support/paths.ts";

/** The folder of the programs sam, cfn-lint and python3: of PyPI, installed once, as .ci/run does. */
export function samPrograms(): string {
  const venv = cacheDir("sam");
  const programs = join(venv, "bin");
  if (!existsSync(join(programs, "cfn-lint"))) {
    execFileSync("python3", ["-m", "venv", venv]);
    execFileSync(join(programs, "pip"), ["install", "-q", "aws-sam-cli==1.170.0", "cfn-lint==1.58.0"]);
  }
  return programs;
}
