import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Metafile } from "esbuild";
import { ROOT } from "../dist.ts";

/** An npm package of which code is in the release. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** SPDX expression. */
  readonly license?: string;
  /** "sha512-" and the hash of the package's tarball in base64; packages inside of another have none. */
  readonly integrity?: string;
  /** Its folder, from the root: node_modules/NAME. */
  readonly folder: string;
}

type LockFile = { readonly packages: Readonly<Record<string, Omit<BundledPackage, "name" | "folder">>> };

/** The packages whose code esbuild has put into outputs, with what package-lock.json says of each, by folder. */
export function bundledPackages(metafiles: readonly Metafile[], lockFile = readLockFile()): readonly BundledPackage[] {
  const inputs = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap((output) =>
      Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
    ),
  );
  const folders = new Set(inputs.flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []));
  return [...folders].sort().map((folder) => {
    const locked = lockFile.packages[folder];
    if (locked === undefined) throw new Error(`${folder} is in the release but not in package-lock.json: run npm ci.`);
    const { version, license, integrity } = locked;
    const name = folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length);
    return { name, version, folder, ...(license !== undefined && { license }), ...(integrity !== undefined && { integrity }) };
  });
}

function readLockFile(): LockFile {
  return JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as LockFile;
}

/** The licences of packages, as their authors ask of shippers of their code: a section for each. */
export function notices(packages: readonly BundledPackage[]): string {
  const sections = packages.map(({ name, version, license = "see below", folder }) => {
    const texts = readdirSync(join(ROOT, folder))
      .filter((file) => /^(licen[cs]e|copying|notice|third-party-licenses)/i.test(file))
      .sort()
      .map((file) => readFileSync(join(ROOT, folder, file), "utf8").trim());
    return [`${name} ${version} (${license})`, ...texts].join("\n\n");
  });
  return `This package contains code of the following packages.\n\n${sections.join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

/** Throws one sentence when the changelog has no section of the version. */
export function checkChangelog(version: string, text = readChangelog()): void {
  if (!text.split("\n").some((line) => line.startsWith(`## [${version}]`)))
    throw new Error(
      `CHANGELOG.md has no section "## [${version}] - DATE": write down what has changed, or change the version of package.json.`,
    );
}

function readChangelog(): string {
  const file = join(ROOT, "CHANGELOG.md");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}
