import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { FUNCTION_NAMES } from "#infra/functions.ts";
import { PRODUCT_FOLDERS } from "../support/folders.ts";
import { circles, importPairs, importsOf, planted, readTree, type SourceTree, upwardImports } from "./source-tree.ts";

const PRODUCT = readTree(PRODUCT_FOLDERS, [".ts", ".tsx"]);

/**
 * Which places each place may import, beside itself; the first that a file lies in counts. `functions/NAME` stands for
 * each Lambda function. The lab is a command too: cli/lab and cli/observe alone reach it.
 */
const FLOORS: Readonly<Record<string, readonly string[]>> = {
  core: [],
  settings: ["core"],
  adapters: ["core", "settings"],
  "functions/shared": ["core", "settings", "adapters"],
  "functions/wiring": ["core", "settings", "adapters", "functions/shared"],
  ...Object.fromEntries(
    FUNCTION_NAMES.map((name) => [`functions/${name}`, ["core", "settings", "adapters", "functions/shared", "functions/wiring"]]),
  ),
  terminal: ["core", "settings"],
  manifests: ["core", "settings", "terminal"],
  // A page of a browser, and the server that knows no cluster: both know the types of what is shown, and no more.
  "console/page": ["core/insight/overview/types.ts"],
  console: ["core/insight/overview/types.ts"],
  infra: ["core", "settings", "adapters", "functions", "terminal", "console"],
  lab: ["core", "settings", "adapters", "functions", "terminal", "manifests", "console"],
  installer: ["core", "settings", "adapters", "functions", "terminal", "infra"],
  "cli/lab": ["core", "settings", "adapters", "functions", "terminal", "manifests", "installer", "cli", "lab", "console"],
  "cli/observe": ["core", "settings", "adapters", "functions", "terminal", "manifests", "installer", "cli", "lab", "console"],
  cli: ["core", "settings", "adapters", "functions", "terminal", "manifests", "installer", "infra", "console"],
};

/** The rooms of core/, the lowest first. */
const CORE = [
  "lib",
  "cel",
  "model",
  "requirements",
  "ports",
  "announcements",
  "pause",
  "pods",
  "request-pace",
  "signals",
  "interruption",
  "history",
  "conversion",
  "repair",
  "capacity-buffers",
  "node-overlay",
  "node-class",
  "node-pool",
  "set-aside",
  "drift",
  "offerings",
  "scheduling",
  "provisioning",
  "launch",
  "launch-group",
  "lifecycle",
  "passes",
  "rebuild",
  "static-capacity",
  "disruption",
  "admission",
  "insight",
];

const INSIGHT = ["kept-fields.ts", "observed", "history", "metrics", "what-if", "overview"];

const SCHEDULING = [
  "tables",
  "rules",
  "problem",
  "claims",
  "packing",
  "keep-nominations.ts",
  "attempt.ts",
  "plan-invariants.ts",
  "trial-cluster.ts",
  "make-trial.ts",
  "search.ts",
  "undecided-affinity.ts",
  "weigh-preferences.ts",
  "headroom.ts",
  "reasons",
  "solve.ts",
];

const OBSERVED = [
  "earlier.ts",
  "trace.ts",
  "readable.ts",
  "owners.ts",
  "runs.ts",
  "boots.ts",
  "demand.ts",
  "machines.ts",
  "pods.ts",
  "room.ts",
  "figures.ts",
];

const DISRUPTION = ["settings.ts", "prices", "cluster", "limits", "consolidation", "node-sets", "methods", "reports", "command", "plan.ts"];

/** Imports that leave their floor for one that FLOORS does not list. */
function strangers(tree: SourceTree): readonly string[] {
  const places = Object.keys(FLOORS);
  const placeOf = (file: string): string | undefined => places.find((place) => file.startsWith(`${place}/`));
  return importPairs(tree).flatMap(([from, to]) => {
    const place = placeOf(from);
    if (place === undefined) return [`${from} lies in no place that the test knows`];
    const isAllowed = [place, ...(FLOORS[place] ?? [])].some((allowed) => to === allowed || to.startsWith(`${allowed}/`));
    return isAllowed ? [] : [`${from} -> ${to}`];
  });
}

/**
 * Packages that the core may import: pure ones, which docs/decisions/libraries.md names. biome.json holds the same
 * list.
 */
const PURE_PACKAGES = ["smol-toml"];

/** Imports by which the product reaches tests, or the core reaches a package that is not on the list. */
function outside(tree: SourceTree): readonly string[] {
  return [...tree.keys()].flatMap((file) =>
    importsOf(tree, file)
      .filter(
        (name) => name.startsWith("test/") || (file.startsWith("core/") && !name.startsWith("core/") && !PURE_PACKAGES.includes(name)),
      )
      .map((name) => `${file} -> ${name}`),
  );
}

describe("imports of the product", () => {
  it("the core, adapters, functions, the lab and the command line import only what lies below them", () => {
    expect(strangers(PRODUCT)).toEqual([]);
  });

  it("the core imports only packages known to be pure, and the product imports no test", () => {
    expect(outside(PRODUCT)).toEqual([]);
  });

  it("no files import each other in a circle, type imports included", () => {
    expect(circles(PRODUCT)).toEqual([]);
  });

  it.for([
    ["core", CORE],
    ["core/insight", INSIGHT],
    ["core/insight/observed", OBSERVED],
    ["core/scheduling", SCHEDULING],
    ["core/disruption", DISRUPTION],
  ] as const)("rooms of %s import downwards", ([base, order]) => {
    expect(upwardImports(PRODUCT, base, order)).toEqual([]);
  });
});

const NAMED = [...PRODUCT_FOLDERS, "test"];

/** Relative imports that climb three folders or more, or lead to another folder that package.json names by "#…". */
function climbing(tree: SourceTree): readonly string[] {
  return [...tree].flatMap(([file, source]) =>
    [...source.matchAll(/^\s*(?:import|export)\b[^"';]*?from\s*"((?:\.\.\/)+[^"]+)"/gm)].flatMap(([, path = ""]) => {
      const [top = ""] = join(dirname(file), path).split("/");
      const isOutside = NAMED.includes(top) && top !== file.split("/")[0];
      return isOutside || path.startsWith("../../../") ? [`${file} -> ${path}`] : [];
    }),
  );
}

it("a file of another top-level folder, or three folders up, is imported by its name from the root", () => {
  expect(climbing(readTree(NAMED, [".ts", ".tsx"]))).toEqual([]);
  expect(climbing(new Map([["core/a/x.ts", 'import { b } from "../../lab/b.ts";\nimport { c } from "../c.ts";\n']]))).toEqual([
    "core/a/x.ts -> ../../lab/b.ts",
  ]);
});

describe("the checks of imports fail on a planted case", () => {
  const importing = (path: string): string => `import type { A } from "${path}";\nexport type B = A;\n`;

  it.for([
    { name: "a function that imports another", file: "functions/audit/x.ts", path: "../provision/provision.ts" },
    { name: "an adapter that imports what functions share", file: "adapters/x.ts", path: "#functions/shared/lease.ts" },
    { name: "a command line that imports the lab", file: "cli/x.ts", path: "../lab/host.ts" },
    { name: "a lab that imports the command line", file: "lab/x.ts", path: "#cli/run.ts" },
    { name: "a page that imports a decision", file: "console/page/x.tsx", path: "#core/insight/overview/cluster.ts" },
    { name: "a page that imports its server", file: "console/page/x.ts", path: "../server/serve.ts" },
    { name: "a core that imports the shell", file: "core/model/x.ts", path: "../../functions/shared/lease.ts" },
  ])("$name is found", ({ file, path }) => {
    expect(strangers(planted(PRODUCT, { [file]: importing(path) }))).toHaveLength(1);
  });

  it("a core that imports another package, and a product that imports a test, are found", () => {
    const tree = planted(PRODUCT, { "core/x.ts": importing("node:fs"), "lab/x.ts": importing("../test/support/fakes.ts") });
    expect(outside(tree)).toHaveLength(2);
  });

  it("a circle of type imports is found", () => {
    const tree = planted(PRODUCT, { "core/model/a.ts": importing("./b.ts"), "core/model/b.ts": importing("./a.ts") });
    expect(circles(tree)).toEqual([["core/model/a.ts", "core/model/b.ts"]]);
  });

  it.for([
    ["core", CORE, "core/model/x.ts", "../scheduling/solve.ts"],
    ["core/scheduling", SCHEDULING, "core/scheduling/tables/x.ts", "../problem/problem.ts"],
    ["core/scheduling", SCHEDULING, "core/scheduling/new-room/x.ts", "../solve.ts"],
    ["core/disruption", DISRUPTION, "core/disruption/cluster/x.ts", "../plan.ts"],
  ] as const)("an import upwards in %s is found (%3$s)", ([base, order, file, path]) => {
    expect(upwardImports(planted(PRODUCT, { [file]: importing(path) }), base, order)).toHaveLength(1);
  });
});
