import { spawnSync } from "node:child_process";
import { expect, it, vi } from "vitest";
import { runLab } from "#lab/lab.ts";
import { ManifestError } from "#manifests/read.ts";
import { ArgumentError } from "#terminal/command-line.ts";

const run = (...args: string[]) => spawnSync(process.execPath, ["lab/main.ts", ...args], { encoding: "utf8" });

it.for([
  { args: ["--bogus"], says: "there is no option --bogus; see npm start -- --help" },
  { args: ["--seed", "-1"], says: "--seed needs a value, and -1 looks like an option; write --seed=-1 if it is the value" },
  { args: ["--regoin", "x"], says: "there is no option --regoin; did you mean --region?" },
  { args: ["--seed", "1", "--seed", "2"], says: "--seed is given twice; leave one of them out" },
  { args: ["--seed", "0"], says: '--seed takes a whole number above 0, not "0"' },
  { args: ["--scale", "web=3"], says: "--scale is for your own manifests; name their files or folders too" },
  {
    args: ["inflat"],
    says: "there is no story, file or folder inflat; the stories are inflate, up-and-down, interruption, night, replace, spot-to-spot; did you mean inflate?",
  },
  { args: ["--setting", "RESERVED_ENIS=1"], says: "--setting is for your own manifests; name their files or folders too" },
  {
    args: ["lab/stories/spot.yaml", "--setting", "PREFERENCE_POLICY=x"],
    says: '--setting PREFERENCE_POLICY: set it to Respect or Ignore or Weigh, not "x"',
  },
  { args: ["--report", "r.json"], says: "--report is for your own manifests; name their files or folders too" },
  {
    args: ["lab/stories/spot.yaml", "--report", "-"],
    says: "--report takes a file, because standard output has the story; name one, such as --report report.json",
  },
  {
    args: ["lab/stories/spot.yaml", "--report", "no-such/r.json"],
    says: "--report: there is no folder no-such; create it, or name another file",
  },
  { args: ["no-such.yaml"], says: "no-such.yaml: there is no such file or folder; check the path" },
])("bad input is refused in one sentence, and nothing is printed: $args", async ({ args, says }) => {
  const printed = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const error = await runLab(args).catch((thrown: unknown) => thrown);
  const calls = printed.mock.calls.length;
  printed.mockRestore();
  expect(error instanceof ArgumentError || error instanceof ManifestError).toBe(true);
  expect({ message: (error as Error).message, calls }).toEqual({ message: says, calls: 0 });
});

it.for([
  { args: ["--bogus"], says: "there is no option --bogus; see npm start -- --help" },
  { args: ["no-such.yaml"], says: "no-such.yaml: there is no such file or folder; check the path" },
])("the program prints only that sentence and ends with exit code 2: $args", ({ args, says }) => {
  const { status, stderr, stdout } = run(...args);
  expect({ status, stderr, stdout }).toEqual({ status: 2, stderr: `${says}\n`, stdout: "" });
});

it("plays a story by its name, where the story says", () => {
  const { status, stdout } = run("replace");
  expect(status).toBe(0);
  expect(stdout).toContain("those of ap-northeast-2");
  expect(stdout).toMatch(/via replace, terminating 1 nodes \(1 pods\)/);
});
