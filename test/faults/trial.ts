import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PRODUCT_FOLDERS } from "../support/folders.ts";
import { patchedTree } from "../support/patched-tree.ts";
import type { Fault, Outcome } from "./fault.ts";

const ROOT = join(import.meta.dirname, "../..");
/** The folders and files that tests and the simulation read; the copy contains nothing else. */
const PARTS = [...PRODUCT_FOLDERS, "events", "test", "docs", "package.json", "tsconfig.json", "biome.json", "vitest.config.ts"];
/** Limit of one run of vitest, because a broken rule may make the solver loop for ever. */
const LIMIT_MS = 180_000;

/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly numTotalTests: number;
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** A copy of the project in which faults are planted. The project itself is never changed. */
export class Copy {
  readonly #tree = patchedTree(PARTS.filter((part) => existsSync(join(ROOT, part))));

  /** Plants one fault, and looks for it where it must be found. */
  try(fault: Fault): Outcome {
    try {
      this.#tree.apply(fault.edits);
    } catch (error) {
      return { kind: "not tried", why: (error as Error).message };
    }
    const outcome = fault.foundBy === "unit" ? this.test(fault.within) : this.#simulate(fault.within);
    this.#tree.apply([]);
    return outcome;
  }

  /** Runs test files up to the first failure; "missed" when all pass. */
  test(files: readonly string[]): Outcome {
    const output = join(this.#tree.root, "report.json");
    rmSync(output, { force: true });
    const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
    const { error } = spawnSync(process.execPath, [vitest, "run", "--bail=1", "--reporter=json", `--outputFile=${output}`, ...files], {
      cwd: this.#tree.root,
      // CI: golden files are compared and never written. FULL: some rules are covered only by the full tests.
      env: { ...process.env, CI: "1", FULL: "1" },
      timeout: LIMIT_MS,
      stdio: "ignore",
    });
    if ((error as NodeJS.ErrnoException | undefined)?.code === "ETIMEDOUT") return { kind: "found", by: "it never ends" };
    if (!existsSync(output)) return { kind: "not tried", why: "vitest wrote no report" };
    const { testResults, numTotalTests } = JSON.parse(readFileSync(output, "utf8")) as Report;
    const failed = testResults.flatMap(({ assertionResults }) => assertionResults).find(({ status }) => status === "failed");
    if (failed !== undefined) return { kind: "found", by: failed.fullName };
    const unread = testResults.find(({ message }) => message !== "");
    if (unread !== undefined) return { kind: "not tried", why: unread.message.split("\n")[0] ?? "" };
    return numTotalTests === 0 ? { kind: "not tried", why: "there is no such test" } : { kind: "missed" };
  }

  /** Plays seeds from 1 on up to the first that breaks an invariant. */
  #simulate(seeds: number): Outcome {
    const args = ["test/simulation/main.ts", "--world", "fast", "--seed", "1", "--runs", String(seeds), "--brief"];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: this.#tree.root, encoding: "utf8", maxBuffer: 1 << 28 });
    const found = /^seed (\d+) breaks "([^"]+)"/m.exec(stdout);
    if (found !== null) return { kind: "found", by: `seed ${found[1]} breaks "${found[2]}"` };
    // A tree that does not run must not count as one without violations.
    if (!/violations 0$/m.test(stdout)) return { kind: "not tried", why: `the simulation did not end: ${(stdout + stderr).slice(-400)}` };
    return { kind: "missed" };
  }

  [Symbol.dispose](): void {
    this.#tree[Symbol.dispose]();
  }
}
