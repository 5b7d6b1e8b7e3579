import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { ViewIndex } from "#core/insight/overview/types.ts";
import { ROOT } from "#infra/dist.ts";
import { makeRelease } from "#infra/release/make-release.ts";

/**
 * Makes a release twice, installs it in an empty folder and runs it there on the oldest Node that it promises:
 * `node test/infra/release/from-empty-folder.ts`. Prints a line for each check and "N passed, N failed".
 */

const NODE = "22.23.3";

/** The program of that Node, installed once into .cache. */
function oldNode(): string {
  const folder = join(ROOT, ".cache", `node-${NODE}`);
  const program = join(folder, "node_modules/node/bin/node");
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), "{}");
    execFileSync("npm", ["install", "--silent", "--no-audit", "--no-fund", "--foreground-scripts", `node@${NODE}`], { cwd: folder });
  }
  return program;
}

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Without credentials, wherever the SDK looks for them. */
const NOBODY = {
  AWS_EC2_METADATA_DISABLED: "true",
  AWS_CONFIG_FILE: "/dev/null",
  AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
  AWS_ACCESS_KEY_ID: "",
  AWS_SECRET_ACCESS_KEY: "",
  AWS_PROFILE: "",
};

const fails = (text: string): never => {
  throw new Error(text);
};

function expectThat(holds: boolean, ended: Ended): void {
  if (!holds) fails(`exit code ${ended.status}\n${ended.stdout.slice(-500)}\n${ended.stderr.slice(-1_000)}`);
}

const SCENARIO = join(ROOT, "test/worked-example/provisioning.json");

async function main(): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), "release-test-"));
  const empty = join(work, "empty");
  mkdirSync(empty);
  const [first, second] = [await makeRelease(join(work, "first")), await makeRelease(join(work, "second"))];
  const [tarball = "", bill = "", statement = "", sums = ""] = first;
  const node = oldNode();
  execFileSync("npm", ["install", "--silent", "--no-audit", "--no-fund", "--offline", tarball], { cwd: empty });
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { readonly version: string };
  const installed = join(empty, "node_modules/karpenter-serverless");
  const program = join(empty, "node_modules/.bin/karpenter-serverless");
  const env = { ...process.env, PATH: `${join(node, "..")}:${process.env["PATH"]}`, AWS_REGION: "us-west-2", ...NOBODY };
  const run = (...args: readonly string[]): Ended => spawnSync(program, args, { cwd: empty, encoding: "utf8", env });
  const checks: Readonly<Record<string, () => void>> = {
    "two releases of the same sources have the same bytes": () => {
      for (const [i, file] of first.entries()) if (!readFileSync(file).equals(readFileSync(second[i] ?? ""))) fails(`${file} differs`);
    },
    "the checksums are those of the files": () => {
      const lines = [tarball, bill, statement].map(
        (file) => `${createHash("sha256").update(readFileSync(file)).digest("hex")}  ${file.split("/").at(-1)}\n`,
      );
      if (readFileSync(sums, "utf8") !== lines.join("")) fails("they differ");
    },
    "an installation brings no other package": () => {
      const { packages } = JSON.parse(readFileSync(join(empty, "package-lock.json"), "utf8")) as { readonly packages: object };
      const names = Object.keys(packages);
      if (!isDeepStrictEqual(names, ["", "node_modules/karpenter-serverless"])) fails(names.join(", "));
    },
    "the bill of materials is in the package, and names what is bundled": () => {
      const text = readFileSync(join(installed, "sbom.cdx.json"), "utf8");
      if (text !== readFileSync(bill, "utf8")) fails("the two differ");
      const { components } = JSON.parse(text) as { readonly components: readonly { readonly name: string }[] };
      const names = new Set(components.map(({ name }) => name));
      for (const name of ["zod", "yaml", "aws-cdk-lib", "@aws-sdk/client-ec2", "@kubernetes/client-node"])
        if (!names.has(name)) fails(`no ${name}`);
      const unused = ["esbuild", "vitest", "typescript", "cdk-nag"].filter((name) => names.has(name));
      if (unused.length > 0) fails(`it has ${unused.join(", ")}`);
    },
    "--version": () => {
      const ended = run("--version");
      expectThat(isDeepStrictEqual([ended.status, ended.stdout, ended.stderr], [0, `karpenter-serverless ${version}\n`, ""]), ended);
    },
    "it is a plugin of kubectl": () => {
      const plugin = join(empty, "node_modules/.bin/kubectl-karpenter_serverless");
      const ended = spawnSync(plugin, ["--version"], { cwd: empty, encoding: "utf8", env });
      expectThat(ended.status === 0 && ended.stdout === `karpenter-serverless ${version}\n`, ended);
    },
    "completion prints a script that bash can read, with all commands": () => {
      const ended = run("completion", "bash");
      const read = spawnSync("bash", ["-n"], { input: ended.stdout, encoding: "utf8" });
      expectThat(ended.status === 0 && ended.stderr === "" && read.status === 0 && ended.stdout.includes("uninstall"), ended);
    },
    "cost prints a bill": () => {
      const ended = run("cost", "--nodes", "100", "--json");
      expectThat(ended.status === 0 && JSON.parse(ended.stdout).perMonth > 0, ended);
    },
    "--help names the program as it is installed": () => {
      const ended = run("--help");
      expectThat(
        ended.status === 0 && ended.stdout.includes("\nkarpenter-serverless COMMAND --help") && !ended.stdout.includes("npm"),
        ended,
      );
    },
    "solve plans nodes for a scenario": () => {
      const ended = run("solve", SCENARIO, "--explain");
      expectThat(ended.status === 0 && ended.stderr === "" && ended.stdout.includes("/h"), ended);
    },
    "the lab plays its stories, without a warning": () => {
      const ended = run("lab");
      expectThat(ended.status === 0 && ended.stderr === "" && ended.stdout.includes("initialized nodeclaim"), ended);
    },
    "manifests of one's own are on the page, as nodes that come for their pods": () => {
      const script = [
        "cp node_modules/karpenter-serverless/docs/examples/recipes/spot.yaml mine.yaml",
        `"${program}" lab mine.yaml --scale worker=20 --view >lab-url & pid=$!`,
        "for i in $(seq 100); do url=$(sed -n 's/^The page: //p' lab-url); [ -n \"$url\" ] && break; sleep 0.1; done",
        'curl -sf "$url"data/index.json; kill -TERM $pid; wait $pid',
      ].join("\n");
      const began = performance.now();
      const ended = spawnSync("bash", ["-c", script], { cwd: empty, encoding: "utf8", env });
      console.log(`        the page has them ${((performance.now() - began) / 1_000).toFixed(1)} s after the command`);
      const { stories = [] } = JSON.parse(ended.stdout) as ViewIndex;
      const nodes = stories.flatMap(({ frames }) => frames.map((frame) => frame.nodes));
      expectThat(stories[0]?.title === "mine.yaml" && Math.max(...nodes) > 1, ended);
    },
    "view serves the page that the release has ready, and ends when it is told to": () => {
      const script = [
        `"${program}" view "${SCENARIO}" >url & pid=$!`,
        "for i in $(seq 100); do url=$(sed -n 's/^The page: //p' url); [ -n \"$url\" ] && break; sleep 0.2; done",
        'curl -sf "$url" | grep -q page.js && curl -sf "$url"page.js | wc -c; curl -s -o /dev/null -w "%{http_code}" "$(dirname "$url")/"',
        // A shell without a terminal starts commands in the background deaf to SIGINT.
        'kill -TERM $pid; wait $pid; echo " $?"',
      ].join("\n");
      const ended = spawnSync("bash", ["-c", script], { cwd: empty, encoding: "utf8", env });
      expectThat(ended.status === 0 && /^[4-9]\d{4}\n404 0\n$/.test(ended.stdout) && ended.stderr === "", ended);
    },
    "manifests prints CRDs that carry the version": () => {
      const ended = run("manifests", "--cluster", "c1");
      expectThat(ended.status === 0 && ended.stdout.split(`karpenter-serverless/version: "${version}"`).length === 6, ended);
    },
    "synth writes the template and the code of every function": () => {
      const ended = run("synth", "--clusters", "c1", "--admission");
      expectThat(ended.status === 0, ended);
      const template = JSON.parse(readFileSync(join(empty, "cdk.out/karpenter-serverless.template.json"), "utf8")) as {
        readonly Resources: Readonly<Record<string, { readonly Type: string; readonly Metadata?: Readonly<Record<string, string>> }>>;
        readonly Outputs: Readonly<Record<string, { readonly Value: unknown }>>;
      };
      if (template.Outputs["Version"]?.Value !== version) fails("the output Version is another");
      const functions = Object.values(template.Resources).filter(({ Type }) => Type === "AWS::Lambda::Function");
      if (functions.length !== 7) fails(`${functions.length} functions`);
      for (const { Metadata = {} } of functions)
        if (!existsSync(join(empty, "cdk.out", Metadata["aws:asset:path"] ?? "", "index.mjs"))) fails("a function has no code");
    },
    "install says what is missing before it does anything": () => {
      const ended = run("install", "--cluster", "c1", "--dry-run");
      const hasEventSource = ended.stdout.includes("ok     region: us-west-2\nFAULT  credentials: AWS does not accept your credentials");
      expectThat(ended.status === 2 && hasEventSource && ended.stderr.startsWith("one check fails, so nothing was installed"), ended);
    },
    "the provenance statement names the tarball and its SHA-256": () => {
      const { _type, subject } = JSON.parse(readFileSync(statement, "utf8")) as {
        readonly _type: string;
        readonly subject: readonly { readonly name: string; readonly digest: { readonly sha256: string } }[];
      };
      const sha256 = createHash("sha256").update(readFileSync(tarball)).digest("hex");
      if (_type !== "https://in-toto.io/Statement/v1" || subject[0]?.digest.sha256 !== sha256) fails(JSON.stringify(subject));
    },
    "a user's own CDK app takes the construct, by import and by require, with types": () => {
      for (const name of ["aws-cdk-lib", "constructs", "@types"])
        symlinkSync(join(ROOT, "node_modules", name), join(empty, "node_modules", name));
      const body = `const app = new App({ outdir: "out" });
        const platform = new Stack(app, "Platform");
        const made = new KarpenterServerless(platform, "Nodes", { clusters: ["prod", { name: "theirs", account: "222233334444" }], architecture: "x86_64" });
        if (made.accessStacks.length !== 1) throw new Error("no access stack");
        app.synth();`;
      const imports = 'import { App, Stack } from "aws-cdk-lib";\nimport { KarpenterServerless } from "karpenter-serverless";\n';
      writeFileSync(join(empty, "app.mts"), imports + body);
      writeFileSync(join(empty, "app.mjs"), imports + body);
      writeFileSync(
        join(empty, "app.cjs"),
        `const { App, Stack } = require("aws-cdk-lib"); const { KarpenterServerless } = require("karpenter-serverless");\n${body}`,
      );
      for (const file of ["app.mjs", "app.cjs"]) {
        rmSync(join(empty, "out"), { recursive: true, force: true });
        const ended = spawnSync(node, [file], { cwd: empty, encoding: "utf8", env });
        expectThat(ended.status === 0, ended);
        const assembly = readdirSync(join(empty, "out"));
        for (const stack of ["karpenter-serverless", "karpenter-serverless-access-theirs"])
          if (!assembly.some((name) => name.includes("NodesStack") || name.includes(stack))) fails(`${file}: ${assembly.join(", ")}`);
        if (assembly.filter((name) => name.startsWith("asset.")).length < 6) fails(`${file}: ${assembly.join(", ")}`);
      }
      const tsc = (source: string): Ended => {
        writeFileSync(join(empty, "app.mts"), source);
        const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2023", "app.mts"];
        return spawnSync(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), ...options], { cwd: empty, encoding: "utf8" });
      };
      const right = tsc(imports + body);
      expectThat(right.status === 0, right);
      const wrong = tsc(imports + body.replace("architecture:", "architektur:"));
      expectThat(wrong.status !== 0 && wrong.stdout.includes("architektur"), wrong);
    },
    "a bad command line is one sentence": () => {
      const ended = run("slove");
      expectThat(ended.status === 2 && ended.stderr === "there is no command slove; did you mean solve?\n", ended);
    },
  };
  let failed = 0;
  for (const [name, check] of Object.entries(checks)) {
    try {
      check();
      console.log(`ok      ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  rmSync(work, { recursive: true });
  console.log(`${Object.keys(checks).length - failed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

await main();
