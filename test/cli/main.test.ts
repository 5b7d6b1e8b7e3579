import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { consolidateCommand } from "#cli/consolidate/command.ts";
import { convertCommand } from "#cli/convert/command.ts";
import { rebuildCommand } from "#cli/rebuild/command.ts";
import { runCommandLine } from "#cli/run.ts";
import { solveCommand } from "#cli/solve/command.ts";
import { whatIfCommand } from "#cli/what-if/command.ts";
import { defineCommand } from "#terminal/command.ts";
import { InputError } from "#terminal/input-error.ts";
import { pod, scenario } from "../support/scheduling/builders.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder("cli");

function file(content: string, name = "scenario.json"): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const COMMANDS = [solveCommand, consolidateCommand, whatIfCommand, convertCommand, rebuildCommand];

async function run(...args: readonly string[]) {
  let stdout = "";
  let stderr = "";
  const status = await runCommandLine(COMMANDS, args, {
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
  });
  // A sign of work, which comes on a busy machine.
  return { status, stdout, stderr: stderr.replaceAll(/^\w+: reading for \d+ s\n/gm, "") };
}

it.for<{ args: readonly string[]; says: string }>([
  { args: [], says: "name a command, one of solve, consolidate, what-if, convert, rebuild; see npm run -s cli -- --help" },
  { args: ["slove", "a.json"], says: "there is no command slove; did you mean solve?" },
  { args: ["destroy"], says: "there is no command destroy; there are solve, consolidate, what-if, convert, rebuild" },
  {
    args: ["--explain", "solve"],
    says: "name a command before --explain, one of solve, consolidate, what-if, convert, rebuild; see npm run -s cli -- --help",
  },
  { args: ["solve"], says: "FILE is missing; see npm run -s cli -- solve --help" },
  { args: ["solve", "a.json", "--bogus"], says: "there is no option --bogus; see npm run -s cli -- solve --help" },
  { args: ["solve", "a.json", "--explian"], says: "there is no option --explian; did you mean --explain?" },
  { args: ["rebuild", "a", "b"], says: "a belongs to no option; see npm run -s cli -- rebuild --help" },
  { args: ["consolidate", "a.json", "--explain", "--explain"], says: "--explain is given twice; leave one of them out" },
  { args: ["convert"], says: "name the manifests to convert: files, folders, or - for standard input" },
  { args: ["convert", "a.yaml", "--ouut", "x"], says: "there is no option --ouut; did you mean --out?" },
  { args: ["rebuild"], says: "--cluster NAME is missing; see npm run -s cli -- rebuild --help" },
  { args: ["rebuild", "c1"], says: "c1 belongs to no option; see npm run -s cli -- rebuild --help" },
  {
    args: ["rebuild", "--cluster", "c1", "--region", ""],
    says: "say in which region the cluster is: --region us-west-2, or set AWS_REGION",
  },
])("a bad command line ends with one sentence and exit code 2: $args", { timeout: 30_000 }, async ({ args, says }) => {
  expect(await run(...args)).toEqual({ status: 2, stdout: "", stderr: `${says}\n` });
});

it.for(COMMANDS)("--help of $name lists every argument within 100 columns", async ({ name, summary, positionals, options }) => {
  const { status, stdout } = await run(name, "--help");
  expect(status).toBe(0);
  expect(stdout.replaceAll(/\s+/g, " ")).toContain(summary);
  expect(stdout).toContain(`npm run -s cli -- ${name} `);
  if (positionals) expect(stdout).toMatch(new RegExp(`^ {2}${positionals.name} `, "m"));
  for (const option of Object.keys(options)) expect(stdout).toMatch(new RegExp(`^ {2}(?:-\\w, )?--${option} `, "m"));
  for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
});

it("--help without a command lists the commands", async () => {
  const { status, stdout } = await run("--help");
  expect(status).toBe(0);
  for (const { name } of COMMANDS) expect(stdout).toMatch(new RegExp(`^ {2}${name} `, "m"));
});

it("--version prints the version of the package", async () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
  expect(await run("--version")).toEqual({ status: 0, stdout: `karpenter-serverless ${version}\n`, stderr: "" });
});

it.for([[], ["what-if"]])("--help in a pipe has no colours: %s", { timeout: 30_000 }, (words) => {
  const env = { ...process.env, FORCE_COLOR: "1" };
  const { status, stdout } = spawnSync(process.execPath, ["cli/main.ts", ...words, "--help"], { encoding: "utf8", env });
  expect(status).toBe(0);
  expect(stdout).not.toContain("\u001b");
});

it.for([{ command: "solve" }, { command: "consolidate" }])(
  "$command prints one line for each of several files; a file that cannot be read gives its error, and exit code 2 at the end",
  async ({ command }) => {
    const good = file(JSON.stringify(scenario({ pods: [pod("web")] })), "good.json");
    const bad = file("{", "bad.json");
    const odd = file(JSON.stringify(scenario({ pods: [{ ...pod("web"), spec: { nodeName: 7 } as never }] })), "odd.json");
    const { status, stdout, stderr } = await run(command, good, bad, odd, good);
    expect({ status, stderr }).toEqual({ status: 2, stderr: "" });
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(lines).toMatchObject([
      { file: good, plan: {} },
      { file: bad, error: expect.stringContaining("is not a scenario") },
      { file: odd, error: expect.stringContaining("pods[0] (web)") },
      { file: good, plan: {} },
    ]);
    expect(await run(command, good, good)).toMatchObject({ status: 0 });
    expect((await run(command, good, "--explain")).stdout).not.toContain("good.json");
    expect((await run(command, good, bad, "--explain")).stdout).toMatch(/^.*good\.json:\n\n.*\n.*bad\.json:\n\n.* is not a scenario/s);
  },
);

it("an input that fails anywhere is one sentence, never a stack trace", async () => {
  const odd = file(JSON.stringify(scenario({ pods: [{ ...pod("web"), status: { conditions: "x" as never } }] })));
  const { status, stderr } = await run("solve", odd);
  expect(status).toBe(2);
  expect(stderr).toMatch(/^solve failed: .*\n$/);
});

it.for(["-f", "--filename"])("convert takes %s FILE, as kubectl does, as often as it is given", async (option) => {
  const path = "test/cli/convert/cases/v1-spot.in.yaml";
  expect(await run("convert", option, path)).toEqual(await run("convert", path));
  expect(await run("convert", option, path, option, path)).toEqual(await run("convert", path, path));
});

it("manifests that need a person's work are exit code 1, with a sentence for each on standard error", async () => {
  const { status, stdout, stderr } = await run("convert", "test/cli/convert/cases/v1-spot.in.yaml");
  expect(status).toBe(1);
  expect(stdout).toContain("apiVersion: karpenter.k8s.aws/v1\n");
  expect(stderr.split("\n")).toHaveLength(3);
});

it("the program prints the plan and ends with exit code 0", { timeout: 30_000 }, () => {
  const path = file(JSON.stringify(scenario({ pods: [pod("web")] })));
  const { status, stdout, stderr } = spawnSync(process.execPath, ["cli/main.ts", "solve", path], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(JSON.parse(stdout).newNodeClaims[0].pods).toEqual(["default/web"]);
});

it("the program ends with exit code 2 when the command line is bad", { timeout: 30_000 }, () => {
  const { status, stderr } = spawnSync(process.execPath, ["cli/main.ts", "slove"], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 2, stderr: "there is no command slove; did you mean solve?\n" });
});

it("a reader of the output that ends early is no error of the program", { timeout: 30_000 }, () => {
  const piped = `"${process.execPath}" cli/main.ts manifests --cluster c1 | true`;
  expect(spawnSync("sh", ["-c", piped], { encoding: "utf8" }).stderr).toBe("");
});

it("a command that waits for answers says on standard error that it works, and its output stays clean", async () => {
  vi.useFakeTimers();
  try {
    let answered = (): void => {};
    const slow = {
      name: "doctor",
      summary: "",
      options: {},
      run: () => new Promise<{ output: string }>((done) => (answered = () => done({ output: "{}\n" }))),
    };
    const [out, err]: [string[], string[]] = [[], []];
    const ended = runCommandLine([slow], ["doctor"], {
      stdout: { write: (text) => out.push(text) },
      stderr: { write: (text) => err.push(text) },
    });
    await vi.advanceTimersByTimeAsync(5_000);
    answered();
    expect(await ended).toBe(0);
    await vi.advanceTimersByTimeAsync(10_000);
    expect([out.join(""), err.join("")]).toEqual(["{}\n", "doctor: reading for 2 s\ndoctor: reading for 4 s\n"]);
  } finally {
    vi.useRealTimers();
  }
});

it("a command that keeps the process busy gives signs, and each part that it prints is heard", async () => {
  const told: string[] = [];
  const signs = (name: string) => ({ heard: () => void told.push(`${name} prints`), end: () => void told.push(`${name} ends`) });
  const streams = { stdout: { write: (text: string) => told.push(text) }, stderr: { write: () => true }, signs };
  const named = (name: string) => ({
    ...{ name, summary: "", options: {} },
    async run() {
      const parts = function* () {
        yield* ["first", "second"];
        return true;
      };
      return { output: "", parts: parts() };
    },
  });
  for (const name of ["solve", "synth", "completion"]) expect(await runCommandLine([named(name)], [name], streams)).toBe(0);
  expect(told.filter(Boolean)).toEqual([
    ...["solve prints", "first", "solve prints", "second", "solve ends"],
    ...["synth prints", "first", "synth prints", "second", "synth ends"],
    ...["first", "second"],
  ]);
});

it("an error is one line in a pipe, and fits a terminal", async () => {
  const long = defineCommand({
    ...{ name: "long", summary: "", options: {} },
    run: async () => {
      throw new InputError("this sentence names a place and says how to mend it ".repeat(5).trim());
    },
  });
  const said = async (isTTY: boolean): Promise<readonly string[]> => {
    let stderr = "";
    const write = (text: string): void => {
      stderr += text;
    };
    await runCommandLine([long], ["long"], { stdout: { write: () => {} }, stderr: { write, isTTY } });
    return stderr.trimEnd().split("\n");
  };
  expect(await said(false)).toHaveLength(1);
  const shown = await said(true);
  expect(shown.length).toBeGreaterThan(1);
  expect(Math.max(...shown.map(({ length }) => length))).toBeLessThanOrEqual(100);
});
