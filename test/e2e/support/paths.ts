import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** This folder, absolute. */
export const supportDir = dirname(fileURLToPath(import.meta.url));

/** The project's root, absolute. */
export const projectRoot = join(supportDir, "..", "..", "..");

/** A folder under the project's git-ignored `.cache/`, made when it is not there. */
export function cacheDir(name: string): string {
  const dir = join(projectRoot, ".cache", name);
  mkdirSync(dir, { recursive: true });
  return dir;
}

/** An environment with the project's own Node first on PATH, for programs that start `node` by name. */
export function withProjectNode(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return { ...env, PATH: `${join(projectRoot, "node_modules", ".bin")}:${env["PATH"] ?? ""}` };
}
