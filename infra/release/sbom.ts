import { createHash } from "node:crypto";
import type { BundledPackage } from "./bundled-packages.ts";

/**
 * A bill of materials, CycloneDX 1.6 in JSON (https://cyclonedx.org/docs/1.6/json): what a release is made of. It has
 * no time and its serial number follows from its content, so that the same sources give the same document.
 */
export function sbom(name: string, version: string, packages: readonly BundledPackage[]): object {
  const components = packages.map((one) => ({
    type: "library",
    "bom-ref": refOf(one),
    name: one.name,
    version: one.version,
    purl: purlOf(one),
    ...(one.license !== undefined && { licenses: [licenseOf(one.license)] }),
    ...(one.integrity !== undefined && { hashes: hashesOf(one.integrity) }),
  }));
  const root = { type: "application", "bom-ref": `pkg:npm/${name}@${version}`, name, version, purl: `pkg:npm/${name}@${version}` };
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify([root, components]))}`,
    version: 1,
    metadata: { component: { ...root, licenses: [licenseOf("Apache-2.0")] } },
    components,
    dependencies: [{ ref: root["bom-ref"], dependsOn: packages.map(refOf) }],
  };
}

/** A package can be in the release twice in one version, once inside of another. */
const refOf = (one: BundledPackage): string => `${purlOf(one)}#${one.folder}`;

const purlOf = ({ name, version }: BundledPackage): string => `pkg:npm/${name.replace("@", "%40")}@${version}`;

/** One licence by its SPDX id, several as an expression. */
const licenseOf = (license: string): object => (/[ (]/.test(license) ? { expression: license } : { license: { id: license } });

/** "sha512-BASE64", as in package-lock.json; several are separated by blanks. */
function hashesOf(integrity: string): readonly object[] {
  return integrity.split(" ").map((one) => {
    const [, bits = "", base64 = ""] = /^sha(\d+)-(.+)$/.exec(one) ?? [];
    return { alg: `SHA-${bits}`, content: Buffer.from(base64, "base64").toString("hex") };
  });
}

/** A UUID of version 8 (RFC 9562), whose bits are those of a hash. */
function uuidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `${variant}${hex.slice(17, 20)}`, hex.slice(20, 32)].join("-");
}
