import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { subjectProblem } from "./commit-subjects.ts";

it.for([
  "perf(lifecycle): reconcile a node group in one pass",
  "fix: a start without the package's Node ends in one sentence",
  "docs(versus): update the table of memory and cpu",
  "Merge branch 'main' into work",
])("a subject of one fact passes: %s", (subject) => {
  expect(subjectProblem(subject)).toBeUndefined();
});

it.for([
  ["Reconcile a node group in one pass", "type(area): imperative"],
  ["feature: reconcile a node group", "one of the types"],
  [`feat: ${"x".repeat(67)}`, "it has 73 characters; 72 are allowed"],
  ["fix: reconcile a node group.", "full stop"],
  ["fix: keep the record, and the node is deleted", "two facts"],
  ["fix: keep the record; delete the node", "two facts"],
  ["fix: a record is kept and the node is deleted", "two facts"],
] as const)("a subject that breaks a rule is named: %s", ([subject, says]) => {
  expect(subjectProblem(subject)).toContain(says);
});

it("a clone without the base passes and says so; with it, a wrong subject fails", { timeout: 30_000 }, () => {
  const folder = temporaryFolder("commit-subjects");
  const git = (...args: string[]): string => execFileSync("git", args, { cwd: folder, encoding: "utf8" });
  const script = join(import.meta.dirname, "commit-subjects.ts");
  const check = (...args: string[]) => spawnSync(process.execPath, [script, ...args], { cwd: folder, encoding: "utf8" });
  git("init", "--quiet");
  const commit = (subject: string): string => {
    git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--allow-empty", "--message", subject);
    return git("rev-parse", "HEAD").trim();
  };
  const base = commit("chore: begin");
  expect(check()).toMatchObject({ status: 0, stdout: "this clone does not have commit 0ec59245, so no subject is checked\n" });
  commit("fix: keep the record");
  expect(check(base)).toMatchObject({ status: 0, stdout: "1 passed, 0 failed\n" });
  commit("wrong");
  expect(check(base)).toMatchObject({ status: 1, stdout: expect.stringContaining("1 passed, 1 failed\n") });
});
