import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { COMMANDS } from "#cli/commands.ts";
import { install } from "#installer/install/install.ts";
import { settingsFor } from "#installer/install/settings-for.ts";
import { argumentsOf } from "#terminal/command.ts";
import { parseArguments } from "#terminal/command-line.ts";
import { World } from "./world.ts";

// The commands of docs/quick-start.md and README.md, run in an account without a node role and without a NodePool.

const INSTALL = "npm run -s cli -- install ";

/** The lines of a page's blocks for a shell, without their comments. */
const linesOf = (page: string): readonly string[] =>
  [...readFileSync(page, "utf8").matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = ""]) =>
    block.split("\n").map((line) => line.replace(/ +#.*$/, "").trim()),
  );

interface Words {
  readonly cluster: string;
  readonly region: string;
  readonly admission: boolean;
  readonly "create-node-role": boolean;
  readonly "with-default-pool": boolean;
  readonly "tag-network": boolean;
  readonly "dry-run": boolean;
}

/** What comes of an `install` line of a page. */
async function installed(line: string) {
  const command = COMMANDS.find(({ name }) => name === "install");
  if (command === undefined) throw new Error("there is no command install");
  const table = await argumentsOf(command);
  const values = parseArguments({ ...table, usage: "" }, line.slice(INSTALL.length).split(" ")).values as unknown as Words;
  const world = new World();
  const lines: string[] = [];
  const { cluster, region } = values;
  const options = { cluster, region, settings: settingsFor(values, region), hasEndpointOption: false, tagNetwork: values["tag-network"] };
  const rest = { withDefaultPool: values["with-default-pool"], dryRun: values["dry-run"] };
  const nothing = { roleArn: async () => undefined, accessEntryType: async () => undefined };
  const answer = await install({ ...options, ...rest }, world.ports(nothing), (text) => lines.push(text)).catch((error: Error) => error);
  return { answer, world, text: lines.join("\n") };
}

describe.for(["docs/quick-start.md", "README.md"])("%s", (page) => {
  const lines = linesOf(page);
  const installs = lines.filter((line) => line.startsWith(INSTALL));

  it("its install makes a node role, a NodePool and an EC2NodeClass where there are none", async () => {
    const last = installs.findLast((line) => !line.includes("--dry-run")) ?? "";
    const { answer, world } = await installed(last);
    expect(answer).not.toBeInstanceOf(Error);
    expect(world.settings.at(-1)?.createNodeRoles).toBe(true);
    expect([...world.objects.keys()]).toEqual(expect.arrayContaining(["NodePool/default", "EC2NodeClass/default"]));
  });

  it("a checkout is built before", () => {
    expect(lines.findIndex((line) => line.endsWith("npm run -s build"))).toBeLessThan(lines.indexOf(installs[0] ?? ""));
    expect(lines.some((line) => line.endsWith("npm run -s build"))).toBe(true);
  });

  it("its uninstall drains the nodes, without which it removes nothing", () => {
    const uninstalls = lines.filter((line) => line.includes(" uninstall "));
    expect(uninstalls.length).toBeGreaterThan(0);
    expect(uninstalls.filter((line) => !line.endsWith(" --drain"))).toEqual([]);
  });
});

it("docs/quick-start.md: a dry run of the same install has no fault, and changes nothing", async () => {
  const [dry = "", real = ""] = linesOf("docs/quick-start.md").filter((line) => line.startsWith(INSTALL));
  expect(dry).toBe(`${real} --dry-run`);
  const { answer, world, text } = await installed(dry);
  expect(answer).toMatchObject({ isUsable: true });
  expect(text).toMatch(/NodePool/);
  expect(world.end()).toEqual(new World().end());
});
