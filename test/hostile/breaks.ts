import { spawnSync } from "node:child_process";
import { PRODUCT_FOLDERS } from "../support/folders.ts";
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
        find: "if (problem !== undefined) this.setAside.push(",
        replace: "if (problem !== undefined) throw new RangeError(problem);\n    if (problem !== undefined) this.setAside.push(",
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
        find: "daemonSets, setAside, untouchable, unreadablePools };",
        replace:
          'daemonSets, setAside, untouchable: setAside.length > 0 ? new Map(nodes.map(({ metadata }) => [metadata.name, "x"])) : untouchable, unreadablePools };',
      },
    ],
  },
  {
    name: "key-of-an-event-is-its-text",
    edits: [{ file: "functions/shared/publish-once.ts", find: "contentHash(event.message)", replace: "event.message" }],
  },
  {
    name: "unreadable-bounds-are-read",
    edits: [
      {
        file: "core/requirements/requirement.ts",
        find: 'parseInt64(values[0] ?? "") !== undefined);',
        replace: "values[0] !== undefined);",
      },
    ],
  },
  {
    name: "a-missing-volume-claim-throws",
    edits: [
      {
        file: "core/scheduling/rules/volumes.ts",
        find: "if (claim === undefined) return `PersistentVolumeClaim",
        replace: 'if (claim === undefined) throw new Error("no claim");\n    if (claim === undefined) return `PersistentVolumeClaim',
      },
    ],
  },
  {
    name: "a-schedule-throws",
    edits: [
      {
        file: "core/lib/cron.ts",
        find: "from > to) return undefined;",
        replace: 'from > to) throw new RangeError("not a schedule");',
      },
    ],
  },
  {
    name: "a-duration-throws",
    edits: [
      {
        file: "core/lib/duration.ts",
        find: "if (total > MAX_NS) return undefined;",
        replace: 'if (total > MAX_NS) throw new RangeError("too long");',
      },
    ],
  },
  {
    name: "an-imposter-is-the-node",
    edits: [
      {
        file: "core/model/node-owner.ts",
        find: "metadata.name === (registered ?? alike[0]?.metadata.name));",
        replace: "alike.length === 1 || metadata.name !== registered);",
      },
      {
        file: "core/model/node-owner.ts",
        find: "const unsure = alike.length > 1 || own === undefined;",
        replace: "const unsure = own === undefined;",
      },
    ],
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
    ...PRODUCT_FOLDERS,
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
    const args = ["test/hostile/main.ts", "--seed", "1", "--runs", String(MAX_SEEDS), "--brief", "--first", "--workers", "1"];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: tree.root, encoding: "utf8" });
    const found = /^seed (\d+) breaks the law: (.{0,160})/m.exec(stdout);
    if (found === null) missed++;
    console.log(`${rule}: ${found ? `seed ${found[1]} breaks the law: ${found[2]}` : `NOT FOUND ${stderr.slice(0, 200)}`}`);
  }
  console.log(`breaks ${chosen.length}, found ${chosen.length - missed}`);
  process.exitCode = missed > 0 ? 1 : 0;
}
