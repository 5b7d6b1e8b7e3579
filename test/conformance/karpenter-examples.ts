import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { loadManifests, ManifestError } from "#manifests/read.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/**
 * Reads the examples of Karpenter's AWS provider, and the NodePool and EC2NodeClass of its end-to-end tests, as the
 * lab and the commands read manifests: by the CRDs and by what admission refuses. They are read out of the Go module
 * at run time. Prints each refusal, and "N of N accepted" for each version; exits 1 when a manifest is refused that
 * Karpenter's own definitions take.
 *
 *     node test/conformance/karpenter-examples.ts [VERSION...]
 */
const MODULE = "github.com/aws/karpenter-provider-aws";
/** The newest one, the one before, and the one with long support. */
const VERSIONS = ["v1.15.2", "v1.14.1", "v1.9.3"];
const FOLDERS = ["examples", "test/pkg/environment"];

/** Examples that Karpenter's definitions refuse too, and the words of ours that say so. */
const REFUSED_BY_KARPENTER: Readonly<Record<string, string>> = {
  "examples/v1/windows-custom-userdata.yaml": 'nodeClassRef.group "karpenter.k8s.aws/v1" is not valid',
};

/** Where the module's files are. The module may need a newer Go than the one here, which then only says so. */
function moduleFolder(version: string): string {
  const folder = temporaryFolder("karpenter-examples");
  const environment = { ...process.env, GOFLAGS: "-mod=mod" };
  const said = (args: readonly string[]): string =>
    execFileSync("go", args, { cwd: folder, env: environment, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  try {
    said(["mod", "download", "-json", `${MODULE}@${version}`]);
  } catch {
    // The files are there all the same; without them the next step fails.
  }
  return join(said(["env", "GOMODCACHE"]).trim(), `${MODULE}@${version}`);
}

const yamlFiles = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.ya?ml$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();

/** Why a file is refused; none when it is accepted. The tests write the cluster's name in place of a variable. */
function refusals(file: string, scratch: string): readonly string[] {
  const copy = join(scratch, "manifest.yaml");
  writeFileSync(copy, readFileSync(file, "utf8").replaceAll("$CLUSTER_NAME", "lab"));
  try {
    loadManifests([copy], {});
    return [];
  } catch (error) {
    if (error instanceof ManifestError) return error.problems.map((problem) => problem.replace(copy, ""));
    throw error;
  }
}

function judge(version: string): number {
  const root = moduleFolder(version);
  const scratch = join(temporaryFolder("karpenter-examples"), version);
  mkdirSync(scratch, { recursive: true });
  const files = FOLDERS.flatMap((folder) => yamlFiles(join(root, folder)));
  let [accepted, alike, wrong] = [0, 0, 0];
  for (const file of files) {
    const problems = refusals(file, scratch);
    const name = relative(root, file);
    const known = REFUSED_BY_KARPENTER[name];
    if (problems.length === 0) accepted++;
    else if (known !== undefined && problems.every((problem) => problem.includes(known))) alike++;
    else {
      wrong++;
      for (const problem of problems) console.log(`${version} ${name}${problem}`);
    }
  }
  console.log(`${version}: ${accepted} of ${files.length} accepted, ${alike} refused as by Karpenter, ${wrong} refused by us alone`);
  return files.length === 0 ? 1 : wrong;
}

const versions = process.argv.slice(2);
const wrong = (versions.length === 0 ? VERSIONS : versions).reduce((sum, version) => sum + judge(version), 0);
process.exitCode = wrong === 0 ? 0 : 1;
