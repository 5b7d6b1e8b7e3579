import { spawn } from "node:child_process";
import { parseArgs } from "node:util";
import { type PatchedTree, patchedTree } from "../../support/patched-tree.ts";
import { PLANTED_BUGS, type PlantedBug } from "./list.ts";

interface Found {
  readonly seed: number;
  /** The invariant that the bug broke. */
  readonly law: string;
}

/** Plays seeds on a tree with the bug, up to the bug's bound; undefined when no seed breaks an invariant. */
async function hunt({ within, edits }: PlantedBug, tree: PatchedTree): Promise<Found | undefined> {
  tree.apply(edits);
  const output = await stdoutOf(["test/simulation/main.ts", "--seed", "1", "--runs", String(within), "--brief"], tree.root);
  const found = /^seed (\d+) breaks "([^"]+)"/m.exec(output);
  if (found?.[1] !== undefined && found[2] !== undefined) return { seed: Number(found[1]), law: found[2] };
  // A tree that does not run must not count as one without violations.
  if (!/violations 0$/m.test(output)) throw new Error(`the simulation did not run to its end: ${output.slice(-400)}`);
  return undefined;
}

function stdoutOf(args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.on("error", reject);
    child.on("close", () => resolve(text));
  });
}

/**
 * `node test/simulation/planted-bugs/run.ts [WORDS] [--part K/N]` plays the bugs whose name contains the words, or all,
 * or each N-th of them from the K-th on; exits 1 when a bug is not found.
 */
async function main(words: string, part: string): Promise<void> {
  const [first = 1, parts = 1] = part.split("/").map(Number);
  const bugs = PLANTED_BUGS.filter(({ name }, i) => name.includes(words) && i % parts === first - 1);
  if (bugs.length === 0) {
    console.error(`no planted bug has "${words}" in its name; they are:\n${PLANTED_BUGS.map(({ name }) => `  ${name}`).join("\n")}`);
    process.exitCode = 2;
    return;
  }
  using tree = patchedTree();
  let missed = 0;
  for (const bug of bugs) {
    const began = Date.now();
    const found = await hunt(bug, tree);
    const seconds = ((Date.now() - began) / 1_000).toFixed(0);
    if (!found) missed++;
    console.log(`${bug.name}: ${found ? `seed ${found.seed} breaks "${found.law}"` : `NOT FOUND in ${bug.within} seeds`} (${seconds} s)`);
  }
  console.log(`planted bugs ${bugs.length}, found ${bugs.length - missed}`);
  process.exitCode = missed > 0 ? 1 : 0;
}

const { positionals, values } = parseArgs({ allowPositionals: true, options: { part: { type: "string", default: "1/1" } } });
await main(positionals[0] ?? "", values.part);
