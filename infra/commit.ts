import { execFileSync } from "node:child_process";

/** The commit that a checkout is at, 40 hexadecimal digits; undefined without git, or when files differ from it. */
export function commitOf(checkout: string): string | undefined {
  const git = (...args: readonly string[]): string => execFileSync("git", args, { cwd: checkout, encoding: "utf8", stdio: "pipe" }).trim();
  try {
    return git("status", "--porcelain", "--untracked-files=no") === "" ? git("rev-parse", "HEAD") : undefined;
  } catch {
    return undefined;
  }
}
