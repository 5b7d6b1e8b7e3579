import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PRODUCT_FOLDERS } from "../support/folders.ts";
import { patchedTree } from "../support/patched-tree.ts";
import { type Mutation, type MutationResult, mutated } from "./mutation.ts";

const ROOT = join(import.meta.dirname, "../..");
/** The folders and files that tests read; the copy contains nothing else. */
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

/** A copy of the project in which rules are broken. The project itself is never changed. */
export class Copy {
  readonly #tree = patchedTree(PARTS.filter((part) => existsSync(join(ROOT, part))));

  /** Breaks one rule, runs its tests and restores the file. */
  try(mutation: Mutation): MutationResult {
    const { file, from, to, tests } = mutation;
    const path = join(this.#tree.root, file);
    const broken = mutated(existsSync(path) ? readFileSync(path, "utf8") : "", mutation);
    if (typeof broken === "number") return { kind: "not found", times: broken };
    this.#tree.apply([{ file, find: from, replace: to }]);
    try {
      return this.run(tests);
    } finally {
      this.#tree.apply([]);
    }
  }

  /** Runs test files up to the first failure; "survived" when all pass. */
  run(tests: readonly string[]): MutationResult {
    const output = join(this.#tree.root, "report.json");
    rmSync(output, { force: true });
    const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
    const { error } = spawnSync(process.execPath, [vitest, "run", "--bail=1", "--reporter=json", `--outputFile=${output}`, ...tests], {
      cwd: this.#tree.root,
      // CI: golden files are compared and never written. FULL: some rules are covered only by the full tests.
      env: { ...process.env, CI: "1", FULL: "1" },
      timeout: LIMIT_MS,
      stdio: "ignore",
    });
    if ((error as NodeJS.ErrnoException | undefined)?.code === "ETIMEDOUT") return { kind: "caught", by: "it never ends" };
    if (!existsSync(output)) return { kind: "no answer", why: "vitest wrote no report" };
    const report = JSON.parse(readFileSync(output, "utf8")) as Report;
    const failed = report.testResults.flatMap(({ assertionResults }) => assertionResults).find(({ status }) => status === "failed");
    if (failed !== undefined) return { kind: "caught", by: failed.fullName };
    const unread = report.testResults.find(({ message }) => message !== "");
    if (unread !== undefined) return { kind: "no answer", why: unread.message.split("\n")[0] ?? "" };
    return report.numTotalTests === 0 ? { kind: "no answer", why: "there is no such test" } : { kind: "survived" };
  }

  [Symbol.dispose](): void {
    this.#tree[Symbol.dispose]();
  }
}
