import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const start = (file: string, ...flags: string[]) => spawnSync(process.execPath, [...flags, file, "--help"], { encoding: "utf8" });

it.for(["lab/main.mjs", "cli/main.mjs"])("%s says in one sentence what to do where Node runs no TypeScript", (file) => {
  const { status, stdout, stderr } = start(file, "--no-strip-types");
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toMatch(
    /^Node [\d.]+ does not run TypeScript\. Run `npm ci --ignore-scripts=false`, which fetches Node 24 into this folder, or install Node 22\.18 or later\.\n$/,
  );
});

it.for(["lab/main.mjs", "cli/main.mjs"])("%s starts the program where Node runs TypeScript", { timeout: 30_000 }, (file) => {
  expect(start(file)).toMatchObject({ status: 0, stderr: "" });
});

it("each start that README names goes through the check of Node, and both packages with install scripts may run them", () => {
  const { scripts, bin, allowScripts } = JSON.parse(readFileSync("package.json", "utf8"));
  const starts = [scripts.start, scripts.cli, scripts.cost, scripts.manifests, bin["karpenter-serverless"]];
  for (const text of starts) expect(text).toMatch(/^(?:node )?(?:lab|cli)\/main\.mjs/);
  expect(readFileSync("vitest.config.ts", "utf8")).toContain('import "./terminal/check-node.mjs";');
  const packages: Readonly<Record<string, { readonly hasInstallScript?: boolean; readonly optional?: boolean }>> = JSON.parse(
    readFileSync("package-lock.json", "utf8"),
  ).packages;
  const withScripts = Object.entries(packages).filter(([, entry]) => entry.hasInstallScript === true && entry.optional !== true);
  expect(Object.keys(allowScripts)).toEqual(withScripts.map(([path]) => path.replace("node_modules/", "")).sort());
});
