import type { BundledPackage } from "./bundled-packages.ts";

/** A file of the release and its SHA-256 in hex. */
interface Subject {
  readonly name: string;
  readonly sha256: string;
}

/**
 * How a release was made: an in-toto statement (v1) with SLSA's provenance (https://slsa.dev/spec/v1.0/provenance). It
 * has no time, so that the same sources give the same document, and no signature: the publisher of the release
 * signs it.
 */
export function provenance(
  { name, version, commit }: { readonly name: string; readonly version: string; readonly commit: string | undefined },
  subjects: readonly Subject[],
  packages: readonly BundledPackage[],
): object {
  const sources = `git+urn:${name}`;
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: subjects.map(({ name: file, sha256 }) => ({ name: file, digest: { sha256 } })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: `urn:${name}:release:1`,
        externalParameters: { command: "npm run release", version },
        resolvedDependencies: [
          { uri: sources, ...(commit !== undefined && { digest: { gitCommit: commit } }) },
          ...packages.flatMap((one) => {
            const sha512 = /^sha512-(.+)$/.exec(one.integrity ?? "")?.[1];
            const uri = `pkg:npm/${one.name.replace("@", "%40")}@${one.version}`;
            return sha512 === undefined ? [] : [{ uri, digest: { sha512: Buffer.from(sha512, "base64").toString("hex") } }];
          }),
        ],
      },
      runDetails: { builder: { id: `urn:${name}:infra/release/make-release.ts` } },
    },
  };
}
