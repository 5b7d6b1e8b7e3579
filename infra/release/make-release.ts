// A release: one tarball for `npm i`, its bill of materials, how it was made, and their checksums.
// In: the sources, package-lock.json and CHANGELOG.md. Out: files in a folder, the same bytes each time. It compiles
// and packs, and must publish nothing.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Metafile } from "esbuild";
import { buildPage } from "#console/build.ts";
import { bundleCode, functionNames } from "../build.ts";
import { commitOf } from "../commit.ts";
import { ROOT } from "../dist.ts";
import { bundledPackages, checkChangelog, notices } from "./bundled-packages.ts";
import { compileConstruct, compileProgram, inRelease, LIB } from "./compile.ts";
import { provenance } from "./provenance.ts";
import { sbom } from "./sbom.ts";
import { packageTypes } from "./types.ts";

/** The oldest Node that runs a release. */
const NODE = 22;

/** What the program and its users read, each at its place in the checkout. */
const DATA = [
  ...["README.md", "CHANGELOG.md", "LICENSE", "NOTICE", "docs"],
  ...["crds", "crds-v1beta1", "rbac", "flow-control", "webhook"].map((folder) => `infra/${folder}`),
  ...["lab/stories", "lab/eks-daemons.yaml", "infra/default-pool.yaml", "adapters/catalogue/data"],
];

/** Makes the files of a release in a folder. Returns their paths. Throws one sentence when the changelog lacks it. */
export async function makeRelease(out: string): Promise<readonly string[]> {
  const { name, version, description, license, devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Record<
    "name" | "version" | "description" | "license",
    string
  > & { readonly devDependencies: Readonly<Record<string, string>> };
  checkChangelog(version);
  const staging = mkdtempSync(join(tmpdir(), "release-"));
  try {
    const page = await buildPage();
    const packages = bundledPackages([
      await compileProgram(staging, `node${NODE}`),
      await compileConstruct(staging, `node${NODE}`),
      page.metafile,
      ...(await bundleFunctions(join(staging, "dist"))),
    ]);
    mkdirSync(join(staging, "console/built"), { recursive: true });
    for (const [file, bytes] of page.files) writeFileSync(join(staging, "console/built", file), bytes);
    writeFileSync(join(staging, LIB, "index.d.ts"), packageTypes());
    for (const path of DATA) cpSync(join(ROOT, path), join(staging, path), { recursive: true });
    writeFileSync(join(staging, "THIRD-PARTY-NOTICES.txt"), notices(packages));
    const bill = `${JSON.stringify(sbom(name, version, packages), undefined, 2)}\n`;
    writeFileSync(join(staging, "sbom.cdx.json"), bill);
    const manifest = {
      name,
      version,
      description,
      license,
      type: "module",
      engines: { node: `>=${NODE}` },
      main: `${LIB}/index.js`,
      types: `${LIB}/index.d.ts`,
      exports: { ".": { types: `./${LIB}/index.d.ts`, default: `./${LIB}/index.js` }, "./package.json": "./package.json" },
      // For the construct only, whose users have them: the program has its own copy in it.
      peerDependencies: { "aws-cdk-lib": `^${devDependencies["aws-cdk-lib"]}`, constructs: `^${devDependencies["constructs"]}` },
      peerDependenciesMeta: { "aws-cdk-lib": { optional: true }, constructs: { optional: true } },
      // kubectl runs what is called kubectl-NAME as `kubectl NAME`, with underscores for dashes.
      bin: { [name]: `${LIB}/main.js`, [`kubectl-${name.replaceAll("-", "_")}`]: `${LIB}/main.js` },
    };
    writeFileSync(join(staging, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
    mkdirSync(out, { recursive: true });
    // npm packs files in a fixed order, with a fixed date and without owners.
    execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", resolve(out)], { cwd: staging });
    const tarball = `${name}-${version}.tgz`;
    const billFile = `${name}-${version}.cdx.json`;
    writeFileSync(join(out, billFile), bill);
    const subjects = [tarball, billFile].map((file) => ({ name: file, sha256: sha256(readFileSync(join(out, file))) }));
    const statement = provenance({ name, version, commit: commitOf(ROOT) }, subjects, packages);
    const statementFile = `${name}-${version}.intoto.json`;
    writeFileSync(join(out, statementFile), `${JSON.stringify(statement, undefined, 2)}\n`);
    const sums = [tarball, billFile, statementFile].map((file) => `${sha256(readFileSync(join(out, file)))}  ${file}\n`);
    writeFileSync(join(out, "SHA256SUMS"), sums.join(""));
    return [tarball, billFile, statementFile, "SHA256SUMS"].map((file) => join(out, file));
  } finally {
    rmSync(staging, { recursive: true });
  }
}

async function bundleFunctions(outDir: string): Promise<readonly Metafile[]> {
  const metafiles: Metafile[] = [];
  for (const name of functionNames()) metafiles.push((await bundleCode(name, outDir, { plugins: [inRelease] })).metafile);
  rmSync(join(outDir, "maps"), { recursive: true });
  return metafiles;
}

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
