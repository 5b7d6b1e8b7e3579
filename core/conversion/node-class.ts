import { isJsonObject, type Json, type JsonObject, listAt, mapAt, type Path, textAt } from "../lib/json.ts";
import type { ManifestDraft } from "./draft.ts";
import { ALIAS_VERSION_ANNOTATION, UBUNTU_ANNOTATION } from "./versions.ts";

const FAMILY: Path = ["spec", "amiFamily"];
const TERMS: Path = ["spec", "amiSelectorTerms"];
const DEVICES: Path = ["spec", "blockDeviceMappings"];
const ALIAS_VERSION: Path = ["metadata", "annotations", ALIAS_VERSION_ANNOTATION];
const UBUNTU: Path = ["metadata", "annotations", UBUNTU_ANNOTATION];

/** Families whose newest image v1beta1 selected by itself, and which v1 selects by an alias. */
export const ALIAS_FAMILIES: readonly string[] = ["AL2", "AL2023", "Bottlerocket", "Windows2019", "Windows2022"];

/** The root volume that v1beta1 gave Ubuntu by default; AL2 has another default. */
const UBUNTU_DEVICES: readonly Json[] = [
  { deviceName: "/dev/sda1", rootVolume: true, ebs: { encrypted: true, volumeType: "gp3", volumeSize: "20Gi" } },
];

/** Placeholder for Ubuntu's own image, which v1 cannot select by itself; no launch can use it. */
export const NO_AMI: readonly Json[] = [{ id: "ami-placeholder" }];

/** Fields that v1beta1 shares with v1; v1beta1 has no other field of a v1 spec. */
const SHARED: ReadonlySet<string> = new Set([
  "subnetSelectorTerms",
  "securityGroupSelectorTerms",
  "amiSelectorTerms",
  "amiFamily",
  "userData",
  "role",
  "instanceProfile",
  "tags",
  "blockDeviceMappings",
  "instanceStorePolicy",
  "detailedMonitoring",
  "metadataOptions",
  "associatePublicIPAddress",
  "context",
]);

/** A v1beta1 EC2NodeClass as v1: a family without terms becomes an alias, and Ubuntu becomes AL2. */
export function raiseNodeClass(draft: ManifestDraft): void {
  const family = draft.get(FAMILY);
  const hasTerms = listAt(draft.object, TERMS).length > 0;
  const version = textAt(draft.object, ALIAS_VERSION);
  draft.remove(ALIAS_VERSION);
  draft.remove(UBUNTU);
  if (family === "Ubuntu") raiseUbuntu(draft, hasTerms);
  else if (typeof family === "string" && ALIAS_FAMILIES.includes(family) && !hasTerms) {
    draft.remove(TERMS);
    draft.rename(FAMILY, TERMS, () => [{ alias: `${family.toLowerCase()}@${version ?? "latest"}` }]);
  }
}

/** Ubuntu and AL2 get the same user data; only the root volume differs. The annotation lists what to undo. */
function raiseUbuntu(draft: ManifestDraft, hasTerms: boolean): void {
  const hasDevices = draft.get(DEVICES) !== undefined;
  draft.set(FAMILY, "AL2");
  if (!hasDevices) draft.set(DEVICES, UBUNTU_DEVICES);
  if (!hasTerms) draft.set(TERMS, NO_AMI);
  draft.set(UBUNTU, ["amiFamily", ...(hasDevices ? [] : ["blockDeviceMappings"]), ...(hasTerms ? [] : ["incompatible"])].join(","));
}

/** A v1 EC2NodeClass as v1beta1, without the fields that v1beta1 does not have. */
export function lowerNodeClass(draft: ManifestDraft): void {
  const ubuntu = textAt(draft.object, UBUNTU)?.split(",");
  const alias = aliasOf(draft);
  draft.remove(UBUNTU);
  if (ubuntu !== undefined) {
    draft.set(FAMILY, "Ubuntu");
    if (ubuntu.includes("blockDeviceMappings")) draft.remove(DEVICES);
    if (ubuntu.includes("incompatible")) draft.remove(TERMS);
  } else if (alias !== undefined) {
    const [family = "", version] = alias.split("@");
    if (draft.get(FAMILY) === undefined) draft.set(FAMILY, ALIAS_FAMILIES.find((known) => known.toLowerCase() === family) ?? "Custom");
    draft.remove(ALIAS_VERSION);
    if (version !== "latest") draft.set(ALIAS_VERSION, version);
  }
  lowerTerms(draft);
  for (const name of Object.keys(mapAt(draft.object, ["spec"]))) if (!SHARED.has(name)) draft.remove(["spec", name]);
  for (const i of listAt(draft.object, DEVICES).keys()) draft.remove([...DEVICES, i, "ebs", "volumeInitializationRate"]);
  draft.remove(["status", "capacityReservations"]);
  const amis = listAt(draft.object, ["status", "amis"]);
  for (const i of amis.keys()) draft.remove(["status", "amis", i, "deprecated"]);
}

function aliasOf(draft: ManifestDraft): string | undefined {
  return listAt(draft.object, TERMS)
    .map((term) => textAt(term, ["alias"]))
    .find((alias) => alias !== undefined);
}

/** Terms with only an alias or an ssmParameter are removed, because nothing is left to select by. */
function lowerTerms(draft: ManifestDraft): void {
  if (!Array.isArray(draft.get(TERMS))) return;
  const terms = listAt(draft.object, TERMS).flatMap((term): readonly Json[] => {
    if (!isJsonObject(term)) return [term];
    const { alias: _, ssmParameter: __, ...rest } = term as JsonObject;
    return Object.keys(rest).length > 0 ? [rest] : [];
  });
  draft.set(TERMS, terms.length > 0 ? terms : undefined);
}
