import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { convert } from "#cli/convert/convert.ts";
import { readSources } from "#cli/convert/input.ts";
import { removeDir } from "../../e2e/support/child.ts";
import { startCluster, type TestCluster } from "../../e2e/support/cluster.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/**
 * Applies the output of convert to a real API server with our CRDs, because only a server runs their CEL rules: it must
 * accept what convert calls valid, and refuse the rest. `node test/cli/convert/on-server.ts [PATH...]`, by default the
 * manifests beside this file. Prints a line for each object and "N agree, N do not"; exit code 1 when one does not.
 */

const root = join(import.meta.dirname, "..", "..", "..");

interface Shown {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata?: { readonly name?: string };
}

/** The text with values in the place of its placeholders. */
function filled(text: string): string {
  return text.replaceAll(/\$\{(\w+)\}|<<<([^>]+)>>>|\{\{ *\.?([\w. ]+?) *\}\}/g, (_, ...names: readonly (string | undefined)[]) => {
    const name = names.find((one) => typeof one === "string") ?? "";
    if (/^MIN_|_CPU$/.test(name)) return "4";
    return name === "ALIAS_VERSION" ? "latest" : name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  });
}

async function refusal(cluster: TestCluster, object: Shown): Promise<string | undefined> {
  try {
    await cluster.kubectl("create", "--dry-run=server", "-f", "-", { input: JSON.stringify(object) });
    return undefined;
  } catch (error) {
    return String(error)
      .replace(/^.*?: The /s, "The ")
      .replaceAll("\n", " ")
      .trim();
  }
}

/** What convert refuses and no server can know. */
const STRICTER = /no counterpart|no Ubuntu images/;

/** The objects of Karpenter's in the output of one file, each with whether convert calls it valid. */
function objectsOf(path: string): readonly (readonly [Shown, isValid: boolean])[] {
  const { files, messages } = convert(readSources([path]));
  const invalid = messages.filter((message) => message.includes(") is not usable: ") && !STRICTER.test(message)).map(filled);
  return parseAllDocuments(filled(files.map(({ text }) => text).join("---\n"))).flatMap((document) => {
    const object = ("toJS" in document ? document.toJS() : undefined) as Shown | null | undefined;
    if (!object || !/karpenter/.test(object.apiVersion)) return [];
    return [[object, !invalid.some((message) => message.includes(`(${object.kind} ${object.metadata?.name})`))] as const];
  });
}

async function main(paths: readonly string[]): Promise<number> {
  const dataDir = temporaryFolder("convert-on-server");
  const cluster = await startCluster({ dataDir, clusterName: "c1" });
  let [agree, differ] = [0, 0];
  try {
    await cluster.kubectl("apply", "-f", join(root, "infra", "crds"));
    await cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=300s");
    for (const path of paths) {
      for (const [object, isValid] of objectsOf(path)) {
        const answer = await refusal(cluster, object);
        const agrees = (answer === undefined) === isValid;
        if (agrees) agree++;
        else differ++;
        const said = `we ${isValid ? "take" : "refuse"} it, the server ${answer === undefined ? "takes it" : `says ${answer}`}`;
        console.log(`${agrees ? "ok  " : "FAIL"} ${path}: ${object.kind} ${object.metadata?.name}: ${said}`);
      }
    }
  } finally {
    await cluster.stop();
    removeDir(dataDir);
  }
  console.log(`${agree} agree, ${differ} do not`);
  return differ;
}

const folder = join(import.meta.dirname, "cases");
const own = readdirSync(folder).filter((name) => name.endsWith(".in.yaml"));
const given = process.argv.slice(2);
process.exitCode = (await main(given.length > 0 ? given : own.map((name) => join(folder, name)))) > 0 ? 1 : 0;
