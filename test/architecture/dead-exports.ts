import { PRODUCT_FOLDERS } from "../support/folders.ts";
import { importsOf, readTree, type SourceTree } from "./source-tree.ts";

const EXPORTED = /^export (?:declare )?(?:async )?(?:function\*?|const|let|class|abstract class|interface|type|enum) (\w+)/gm;
const NAMES = /^\s*(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s*from\s*"([^"]+)"/gm;

/** Names that a file takes from others, by file; "*" where it takes all of one. */
function takenBy(tree: SourceTree, file: string): readonly (readonly [from: string, name: string])[] {
  const text = tree.get(file) ?? "";
  const named = [...text.matchAll(NAMES)].flatMap(([, names = "", path = ""]) => {
    const [from = ""] = importsOf(new Map([[file, `import "${path}"`]]), file);
    return names.split(",").map(
      (name) =>
        [
          from,
          name
            .trim()
            .replace(/^type /, "")
            .replace(/ as .*/s, ""),
        ] as const,
    );
  });
  // What is loaded as a whole or at run time may use every name.
  const whole = text.matchAll(/\* as \w+ from "([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)/g);
  const all = [...whole].flatMap(([, a, b]) =>
    importsOf(new Map([[file, `import "${a ?? b}"`]]), file).map((from) => [from, "*"] as const),
  );
  return [...named, ...all];
}

/**
 * Names that a file of `exporting` exports and no other file of the tree imports, as "file: name".
 * A name that only tests import counts as imported.
 */
export function deadExports(tree: SourceTree, exporting: (file: string) => boolean): readonly string[] {
  const taken = new Set([...tree.keys()].flatMap((file) => takenBy(tree, file).map(([from, name]) => `${from}: ${name}`)));
  return [...tree].flatMap(([file, text]) =>
    exporting(file) && !taken.has(`${file}: *`)
      ? [...text.matchAll(EXPORTED)].flatMap(([, name]) => (taken.has(`${file}: ${name}`) ? [] : [`${file}: ${name}`]))
      : [],
  );
}

/** What Lambda and users' CDK apps load by name, and a text of types that a release is made from. */
const ENTRY_POINTS = /^(?:functions\/[a-z]+\/handler\.ts|infra\/construct\.ts|infra\/release\/types\.ts|test\/.*|docs\/.*)$/;

if (import.meta.main) {
  const tree = readTree([...PRODUCT_FOLDERS, "test", "docs", "vitest.config.ts"], [".ts", ".tsx"]);
  const dead = deadExports(tree, (file) => !ENTRY_POINTS.test(file));
  for (const one of dead) console.log(`${one} is exported and no other file imports it; remove the word export, or the name`);
  process.exitCode = dead.length > 0 ? 1 : 0;
}
