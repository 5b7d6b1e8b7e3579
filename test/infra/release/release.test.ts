import type { Metafile } from "esbuild";
import { describe, expect, it } from "vitest";
import { bundledPackages, checkChangelog } from "#infra/release/bundled-packages.ts";
import { withPlaces } from "#infra/release/compile.ts";
import { provenance } from "#infra/release/provenance.ts";
import { sbom } from "#infra/release/sbom.ts";
import { packageTypes } from "#infra/release/types.ts";
import { CLUSTER_SHAPE, DEPLOYMENT_SHAPE } from "#infra/settings.ts";

const metafile = (inputs: Readonly<Record<string, number>>): Metafile => ({
  inputs: {},
  outputs: {
    "lib/main.js": {
      bytes: 1,
      imports: [],
      exports: [],
      inputs: Object.fromEntries(Object.entries(inputs).map(([path, bytesInOutput]) => [path, { bytesInOutput }])),
    },
  },
});

const LOCKED = {
  packages: {
    "node_modules/@scope/a": { version: "1.2.3", license: "MIT", integrity: "sha512-AQID" },
    "node_modules/@scope/a/node_modules/b": { version: "2.0.0", license: "(MIT OR Apache-2.0)" },
    "node_modules/c": { version: "3.0.0" },
  },
};

describe("bundled packages", () => {
  it("packages are those whose code is in an output, also one inside of another, each once", () => {
    const inputs = {
      "cli/run.ts": 5,
      "node_modules/@scope/a/x.js": 5,
      "node_modules/@scope/a/y.js": 5,
      "node_modules/@scope/a/node_modules/b/lib/z.js": 1,
      "node_modules/c/dropped.js": 0,
    };
    expect(bundledPackages([metafile(inputs), metafile(inputs)], LOCKED)).toEqual([
      { name: "@scope/a", version: "1.2.3", license: "MIT", integrity: "sha512-AQID", folder: "node_modules/@scope/a" },
      { name: "b", version: "2.0.0", license: "(MIT OR Apache-2.0)", folder: "node_modules/@scope/a/node_modules/b" },
    ]);
  });

  it("a package that the lock file does not know ends the release in one sentence", () => {
    expect(() => bundledPackages([metafile({ "node_modules/d/index.js": 1 })], LOCKED)).toThrow(
      "node_modules/d is in the release but not in",
    );
  });
});

describe("the bill of materials", () => {
  const packages = bundledPackages([metafile({ "node_modules/@scope/a/x.js": 1, "node_modules/@scope/a/node_modules/b/z.js": 1 })], LOCKED);

  it("a component has its purl, its licence as id or expression, and the hash of its tarball in hex", () => {
    expect(sbom("p", "1.0.0", packages)).toMatchObject({
      bomFormat: "CycloneDX",
      specVersion: "1.6",
      metadata: { component: { name: "p", version: "1.0.0", purl: "pkg:npm/p@1.0.0" } },
      components: [
        { purl: "pkg:npm/%40scope/a@1.2.3", licenses: [{ license: { id: "MIT" } }], hashes: [{ alg: "SHA-512", content: "010203" }] },
        { purl: "pkg:npm/b@2.0.0", licenses: [{ expression: "(MIT OR Apache-2.0)" }] },
      ],
    });
  });

  it("the serial number follows from the content and is a UUID", () => {
    const serial = (version: string) => (sbom("p", version, packages) as { readonly serialNumber: string }).serialNumber;
    expect(serial("1.0.0")).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(serial("1.0.0")).toBe(serial("1.0.0"));
    expect(serial("1.0.0")).not.toBe(serial("1.0.1"));
  });
});

describe("the provenance statement", () => {
  const packages = bundledPackages([metafile({ "node_modules/@scope/a/x.js": 1 })], LOCKED);

  it("it has the form of in-toto and SLSA: files with their digests, the commit, and the packages that are bundled", () => {
    expect(provenance({ name: "p", version: "1.0.0", commit: "abc" }, [{ name: "p.tgz", sha256: "00" }], packages)).toMatchObject({
      _type: "https://in-toto.io/Statement/v1",
      subject: [{ name: "p.tgz", digest: { sha256: "00" } }],
      predicateType: "https://slsa.dev/provenance/v1",
      predicate: {
        buildDefinition: {
          externalParameters: { version: "1.0.0" },
          resolvedDependencies: [{ digest: { gitCommit: "abc" } }, { uri: "pkg:npm/%40scope/a@1.2.3", digest: { sha512: "010203" } }],
        },
      },
    });
  });
});

describe("the types of the construct", () => {
  it("every setting of a deployment and of a cluster is a property with its note", () => {
    const text = packageTypes();
    const ofApp = Object.keys(DEPLOYMENT_SHAPE).filter((key) => key !== "assetsBucket" && key !== "region");
    for (const key of [...ofApp, ...Object.keys(CLUSTER_SHAPE)]) expect(text).toMatch(new RegExp(`\\*/\\n  readonly ${key}\\??: `));
    expect(text).toContain('readonly architecture?: "arm64" | "x86_64";');
    expect(text).not.toContain("unknown");
  });
});

describe("the changelog", () => {
  it("a version that the changelog has no section of is not released", () => {
    expect(() => checkChangelog("1.1.0", "## [Unreleased]\n\n## [1.0.0] - 2026-01-01\n")).toThrow('no section "## [1.1.0] - DATE"');
    expect(() => checkChangelog("1.0.0", "## [Unreleased]\n\n## [1.0.0] - 2026-01-01\n")).not.toThrow();
  });
});

describe("compiled sources", () => {
  it("a source names its data by its own place, seen from the folder of the compiled code", () => {
    expect(withPlaces('readFileSync(join(import.meta.dirname, "crds"))', "infra/manifests.ts")).toBe(
      'readFileSync(join((import.meta.dirname + "/../infra"), "crds"))',
    );
    expect(withPlaces('new URL("./a.yaml", import.meta.url)', "lab/play.ts")).toBe(
      'new URL("./a.yaml", new URL("../lab/play.ts", import.meta.url).href)',
    );
  });
});
