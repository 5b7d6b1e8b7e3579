/**
 * Checks the subjects of the commits since a base: `node test/architecture/commit-subjects.ts [BASE]`. CONTRIBUTING.md,
 * "Commits", has the rules. Exit code 1 when a subject breaks one; a clone without the base passes and says so.
 */

import { execFileSync } from "node:child_process";

/** The last commit before the rules. */
const BASE = "0ec59245";
const MAX_LENGTH = 72;
const TYPES = ["build", "chore", "ci", "cost", "docs", "feat", "fix", "perf", "refactor", "revert", "style", "test"];
const FORM = new RegExp(`^(?:${TYPES.join("|")})(?:\\([\\w./-]+\\))?: \\S`);
/** Words that begin no imperative sentence, or join a second fact. */
const JOINED = /[;,] and |; | and (?:the |a |an |its )?\w+ (?:is|are|has|have|does|do|goes|keeps|says|gets|waits|reads|writes)\b/;

/** What is wrong with a subject, in a sentence; undefined when nothing is. */
export function subjectProblem(subject: string): string | undefined {
  if (/^(?:Merge|Revert) /.test(subject)) return undefined;
  if (!FORM.test(subject)) return `write "type(area): imperative", with one of the types ${TYPES.join(", ")}`;
  if (subject.length > MAX_LENGTH)
    return `it has ${subject.length} characters; ${MAX_LENGTH} are allowed, and the body has room for the rest`;
  if (subject.endsWith(".")) return "leave the full stop out";
  return JOINED.test(subject) ? "it joins two facts; make two commits, or say the second in the body" : undefined;
}

/** The subjects since the base, the newest first; undefined where the clone has no such commit. */
function subjectsSince(base: string): readonly (readonly [commit: string, subject: string])[] | undefined {
  const git = (...args: string[]): string => execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  try {
    git("merge-base", "--is-ancestor", base, "HEAD");
  } catch {
    return undefined;
  }
  const lines = git("log", "--format=%h %s", `${base}..HEAD`).split("\n");
  return lines.filter((line) => line !== "").map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)] as const);
}

function main(base = BASE): number {
  const subjects = subjectsSince(base);
  if (subjects === undefined) {
    console.log(`this clone does not have commit ${base}, so no subject is checked`);
    return 0;
  }
  const wrong = subjects.flatMap(([commit, subject]) => {
    const problem = subjectProblem(subject);
    return problem === undefined ? [] : [`${commit} ${subject}\n  ${problem}`];
  });
  for (const line of wrong) console.log(line);
  console.log(`${subjects.length - wrong.length} passed, ${wrong.length} failed`);
  return wrong.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = main(process.argv[2]);
