import { execFileSync } from "node:child_process";
import { Template } from "aws-cdk-lib/assertions";
import { Code } from "aws-cdk-lib/aws-lambda";
import { describe, expect, it } from "vitest";
import { makeApp } from "#infra/app.ts";
import { FUNCTION_NAMES } from "#infra/functions.ts";
import { parseSettings } from "#infra/settings.ts";
import { PREVIOUS } from "../e2e/support/previous.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const outDir = temporaryFolder("previous");

const ofPrevious = execFileSync("git", ["ls-tree", "-d", "--name-only", PREVIOUS, "functions/"], { encoding: "utf8" }).split("\n");

/** The variables that the previous version's handler demands at its start; none for one that demands none this way. */
function demanded(name: string): readonly string[] {
  const source = execFileSync("git", ["show", `${PREVIOUS}:functions/${name}/handler.ts`], { encoding: "utf8" });
  const list = /wireBase\("[a-z]+", \[([^\]]*)\]/.exec(source)?.[1] ?? "";
  return [...list.matchAll(/"([A-Z_]+)"/g)].map((match) => match[1] ?? "");
}

describe("an update of the stack", () => {
  it("gives each function what its previous version demands, because settings are replaced before or after the code", () => {
    const { app, stack } = makeApp({
      settings: parseSettings({ clusters: [{ name: "c1", sources: ["audit", "notify", "sweep"] }], scrape: true }, "test"),
      outDir,
      code: () => Code.fromInline("exports.handler = async () => {};"),
    });
    app.synth();
    const functions = Object.values(Template.fromStack(stack).findResources("AWS::Lambda::Function"));
    const given = new Map(
      functions.map(({ Properties }) => [Properties.FunctionName, Object.keys(Properties.Environment?.Variables ?? {})]),
    );
    const wanted = FUNCTION_NAMES.filter((name) => ofPrevious.includes(`functions/${name}`)).flatMap((name) =>
      demanded(name).map((variable) => ({ name, variable })),
    );
    const missing = wanted.filter(({ name, variable }) => !given.get(`${stack.stackName}-${name}`)?.includes(variable));
    expect(missing).toEqual([]);
    expect(wanted.length).toBeGreaterThan(10);
  });
});
