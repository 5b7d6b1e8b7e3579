import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, expect, it } from "vitest";
import { InputError } from "../../../functions/cli/scenario.ts";
import { solveCommand } from "../../../functions/cli/solve.ts";
import { pod, scenario } from "../../support/scheduling/builders.ts";

const folder = mkdtempSync(join(tmpdir(), "solve-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(content: string | Uint8Array, name = "scenario.json"): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const small = scenario({ pods: [pod("web"), pod("huge", { cpu: "99" })] });

it("prints a plan as JSON and nothing else, from gzip too", () => {
  for (const path of [file(JSON.stringify(small)), file(gzipSync(JSON.stringify(small)), "scenario.json.gz")]) {
    const plan = JSON.parse(solveCommand(path));
    expect(Object.keys(plan)).toEqual(["newNodeClaims", "existingNodes", "podErrors", "solveMillis"]);
    expect(plan.newNodeClaims[0].pods).toEqual(["default/web"]);
  }
});

it("explains a plan to people", () => {
  const text = solveCommand(file(JSON.stringify(small)), { explain: true });
  expect(text).toContain("1 new NodeClaims, $");
  expect(text).toMatch(/default: m\.small at \$\d/);
  expect(text).toContain("default/huge: NodePool default: none of 4 instance types has room");
});

it.for([
  { name: "a missing file", path: () => join(folder, "none.json"), says: "cannot read" },
  { name: "text that is no JSON", path: () => file("{"), says: "is not a scenario" },
  { name: "a list", path: () => file("[]"), says: "must be a JSON object" },
  { name: "a list that is none", path: () => file('{"pods": {}}'), says: "pods must be a list" },
  { name: "an object without a name", path: () => file('{"pods": [{}]}'), says: "pods[0].metadata.name is missing" },
  { name: "a bad time", path: () => file('{"now": "noon"}'), says: "now must be an RFC 3339 time" },
  {
    name: "a bad quantity",
    path: () => file(JSON.stringify(scenario({ pods: [pod("web", { cpu: "much" })] }))),
    says: 'resource cpu: quantity "much" is not valid',
  },
  {
    name: "a bad requirement",
    path: () =>
      file(
        JSON.stringify({
          ...small,
          nodePools: [
            {
              metadata: { name: "p" },
              spec: {
                template: {
                  spec: { requirements: [{ key: "k", operator: "Gt", values: ["x"] }], nodeClassRef: { group: "g", kind: "K", name: "n" } },
                },
              },
            },
          ],
        }),
      ),
    says: "k Gt takes exactly one integer",
  },
  {
    name: "a type without offerings",
    path: () => file('{"instanceTypes": [{"name": "m5.large"}]}'),
    says: "instanceTypes[0] (m5.large) needs a list of offerings",
  },
])("says in one sentence what is wrong with $name", ({ path, says }) => {
  expect(() => solveCommand(path())).toThrow(InputError);
  expect(() => solveCommand(path())).toThrow(says);
});
