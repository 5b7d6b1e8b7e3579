import { spawnSync } from "node:child_process";
import { type Edit, patchedTree } from "../support/patched-tree.ts";

/** A rule of the project that is broken on purpose, so that one object of a tenant hurts others. */
export interface Break {
  readonly name: string;
  readonly edits: readonly Edit[];
}

const SET_ASIDE = "core/set-aside/set-aside.ts";

/** Each break removes what ends the damage at the object that carries it. */
export const BREAKS: readonly Break[] = [
  {
    name: "an-unreadable-object-throws",
    edits: [
      {
        file: SET_ASIDE,
        find: "if (problem !== undefined) setAside.push(",
        replace: "if (problem !== undefined) throw new RangeError(problem);\n    if (problem !== undefined) setAside.push(",
      },
    ],
  },
  {
    name: "pool-limits-not-set-aside",
    edits: [
      {
        file: SET_ASIDE,
        find: "const problem = resourcesProblem(limits);",
        replace: "const problem = limits === null ? resourcesProblem(limits) : undefined;",
      },
    ],
  },
  {
    name: "kubelet-not-set-aside",
    edits: [
      {
        file: SET_ASIDE,
        find: 'noted("EC2NodeClass", metadata, kubeletProblem(spec),',
        replace: 'noted("EC2NodeClass", metadata, spec === undefined ? kubeletProblem(spec) : undefined,',
      },
    ],
  },
  {
    name: "claim-launched-unread",
    edits: [
      {
        file: "core/launch/fleet-request.ts",
        find: "if (unreadable !== undefined) return refuse(",
        replace: "if (unreadable === null) return refuse(",
      },
    ],
  },
  {
    name: "one-bad-object-empties-the-pools",
    edits: [
      {
        file: SET_ASIDE,
        find: "return { pods, nodes, nodeClaims, nodePools, nodeClasses,",
        replace: "return { pods, nodes, nodeClaims, nodePools: setAside.length > 0 ? [] : nodePools, nodeClasses,",
      },
    ],
  },
  {
    name: "one-bad-object-hides-the-pods",
    edits: [
      {
        file: SET_ASIDE,
        find: "return { pods, nodes, nodeClaims,",
        replace: "return { pods: setAside.length > 0 ? [] : pods, nodes, nodeClaims,",
      },
    ],
  },
  {
    name: "one-bad-object-stops-disruption",
    edits: [
      {
        file: SET_ASIDE,
        find: "daemonSets, setAside, untouchable };",
        replace:
          'daemonSets, setAside, untouchable: setAside.length > 0 ? new Map(nodes.map(({ metadata }) => [metadata.name, "x"])) : untouchable };',
      },
    ],
  },
  {
    name: "inherited-keys",
    edits: [{ file: "core/lib/own-value.ts", find: "Object.hasOwn(map, key) ? map[key] : undefined", replace: "map[key]" }],
  },
  {
    name: "bound-of-64-bits",
    edits: [{ file: "core/lib/int64.ts", find: "return magnitude <= MAX_INT64 ? magnitude : undefined;", replace: "return magnitude;" }],
  },
];

/** Most seeds that a break may stay unnoticed. */
const MAX_SEEDS = 12;

/**
 * Plays a copy of the project in which a rule is broken; exit code 1 when the law still holds. "list" names the breaks.
 */
export function playBroken(name: string): void {
  if (name === "list") {
    console.log(BREAKS.map((one) => one.name).join("\n"));
    return;
  }
  const chosen = BREAKS.filter((one) => name === "all" || one.name === name);
  if (chosen.length === 0) throw new Error(`there is no break ${name}; there are ${BREAKS.map((one) => one.name).join(", ")}`);
  using tree = patchedTree([
    "core",
    "functions",
    "cli",
    "lab",
    "infra",
    "events",
    "test/simulation",
    "test/support",
    "test/hostile",
    "package.json",
    "tsconfig.json",
  ]);
  let missed = 0;
  for (const { name: rule, edits } of chosen) {
    tree.apply(edits);
    const args = ["test/hostile/main.ts", "--seed", "1", "--runs", String(MAX_SEEDS), "--brief", "--first"];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: tree.root, encoding: "utf8" });
    const found = /^seed (\d+) breaks the law: (.{0,160})/m.exec(stdout);
    if (found === null) missed++;
    console.log(`${rule}: ${found ? `seed ${found[1]} breaks the law: ${found[2]}` : `NOT FOUND ${stderr.slice(0, 200)}`}`);
  }
  console.log(`breaks ${chosen.length}, found ${chosen.length - missed}`);
  process.exitCode = missed > 0 ? 1 : 0;
}
