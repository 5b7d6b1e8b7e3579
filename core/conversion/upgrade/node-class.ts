import { isJsonObject, type Json, type JsonObject, listAt, mapAt, type Path, setAt } from "../../lib/json.ts";
import { parseQuantity } from "../../model/quantity.ts";
import { restrictedTags } from "../../model/tags.ts";
import type { ManifestDraft } from "../draft.ts";
import { ALIAS_FAMILIES, NO_AMI, raiseNodeClass } from "../node-class.ts";
import { ALIAS_VERSION_ANNOTATION, UBUNTU_ANNOTATION } from "../versions.ts";
import type { Remains } from "./remains.ts";
import { selectorTerms } from "./selectors.ts";

const FAMILY: Path = ["spec", "amiFamily"];
const TERMS: Path = ["spec", "amiSelectorTerms"];
const DEVICES: Path = ["spec", "blockDeviceMappings"];
const TAGS: Path = ["spec", "tags"];
const HOP_LIMIT: Path = ["spec", "metadataOptions", "httpPutResponseHopLimit"];

/** Fields that v1 has unchanged. */
const SAME = ["userData", "tags", "blockDeviceMappings", "metadataOptions", "detailedMonitoring", "context"];

/**
 * Moves the AWS fields at `base` (the spec of an AWSNodeTemplate, or the provider of a Provisioner) into a v1
 * EC2NodeClass.
 */
export function takeNodeTemplate(remains: Remains, base: Path, draft: ManifestDraft): void {
  for (const field of ["apiVersion", "kind"]) if (base.length > 1) remains.take([...base, field]);
  draft.origins.push({ to: ["spec"], input: draft.input, from: base });
  const launchTemplate = remains.take([...base, "launchTemplate"]);
  takeSelector(remains, [...base, "subnetSelector"], draft, ["spec", "subnetSelectorTerms"]);
  takeSelector(remains, [...base, "securityGroupSelector"], draft, ["spec", "securityGroupSelectorTerms"]);
  takeSelector(remains, [...base, "amiSelector"], draft, TERMS);
  // AL2 was the default.
  draft.set(FAMILY, "AL2");
  remains.carry([...base, "amiFamily"], draft, FAMILY);
  remains.carry([...base, "instanceProfile"], draft, ["spec", "instanceProfile"]);
  if (draft.get(["spec", "instanceProfile"]) === undefined) {
    draft.set(["spec", "role"], `\${KARPENTER_NODE_ROLE}`);
    draft.note(
      "act",
      ["spec", "role"],
      "the old version took the profile from aws.defaultInstanceProfile; put the name of the nodes' role here",
    );
  }
  for (const field of SAME) remains.carry([...base, field], draft, ["spec", field]);
  raiseFamily(draft);
  tidySpec(draft);
  draft.object = setAt(draft.object, ["spec"], inOrder(mapAt(draft.object, ["spec"])));
  if (launchTemplate !== undefined) {
    const instead = "write its image, user data, disks, security groups and profile into this class";
    draft.note(
      "invalid",
      ["spec"],
      `launchTemplate ${JSON.stringify(launchTemplate)} has no counterpart, since v1 makes its own launch templates; ${instead}`,
    );
  }
}

/** Images, network and identity precede the other fields. */
const ORDER = ["amiFamily", "amiSelectorTerms", "subnetSelectorTerms", "securityGroupSelectorTerms", "role", "instanceProfile"];

function inOrder(spec: JsonObject): JsonObject {
  const first = ORDER.flatMap((name) => (spec[name] === undefined ? [] : [[name, spec[name]] as const]));
  return { ...Object.fromEntries(first), ...spec };
}

/** A v1beta1 EC2NodeClass as a v1 manifest. */
export function upgradeNodeClass(draft: ManifestDraft): void {
  raiseFamily(draft);
  tidySpec(draft);
}

function takeSelector(remains: Remains, from: Path, draft: ManifestDraft, to: Path): void {
  const selector = remains.take(from);
  if (selector === undefined) return;
  const { terms, problems } = selectorTerms(selector);
  if (terms.length > 0) draft.set(to, terms, from);
  for (const i of terms.keys()) draft.origins.push({ to: [...to, i, "tags"], input: draft.input, from });
  for (const problem of problems) draft.note("act", to, `${from.at(-1)} ${problem}`);
}

/** The webhook's conversion of the family, with notes for the reader in place of annotations. */
function raiseFamily(draft: ManifestDraft): void {
  const family = draft.get(FAMILY);
  const hasTerms = listAt(draft.object, TERMS).length > 0;
  const hadDevices = draft.get(DEVICES) !== undefined;
  if (family === undefined && !hasTerms) return;
  raiseNodeClass(draft);
  draft.remove(["metadata", "annotations", UBUNTU_ANNOTATION]);
  draft.remove(["metadata", "annotations", ALIAS_VERSION_ANNOTATION]);
  if (Object.keys(mapAt(draft.object, ["metadata", "annotations"])).length === 0) draft.remove(["metadata", "annotations"]);
  if (family === "Ubuntu") {
    draft.note("info", FAMILY, "v1 has no family Ubuntu; AL2 writes the same user data");
    if (!hadDevices) draft.note("info", DEVICES, "the root disk that the family Ubuntu had by default");
    if (!hasTerms)
      draft.note(
        "invalid",
        TERMS,
        `v1 finds no Ubuntu images by itself; select yours by name, owner, tags or id in place of ${JSON.stringify(NO_AMI)}`,
      );
  } else if (family === "AL2" && !hasTerms) {
    draft.note(
      "act",
      TERMS,
      "AWS makes no AL2 images for Kubernetes 1.33 and later; use al2023@latest there, and see that userData suits it",
    );
  } else if (family === "Custom" && !hasTerms) {
    draft.note("invalid", FAMILY, "a Custom family has no image of its own; say in amiSelectorTerms which to use");
  } else if (typeof family === "string" && family !== "Custom" && !ALIAS_FAMILIES.includes(family)) {
    draft.note("invalid", FAMILY, `family ${family} is not known; use one of ${[...ALIAS_FAMILIES, "Custom"].join(", ")}`);
  }
}

function tidySpec(draft: ManifestDraft): void {
  if (draft.get(HOP_LIMIT) === undefined) {
    draft.set(HOP_LIMIT, 2);
    draft.note(
      "info",
      HOP_LIMIT,
      "the default was 2 and is 1 in v1, which keeps pods off the instance's credentials; take it out if none needs them",
    );
  }
  for (const i of listAt(draft.object, DEVICES).keys()) tidyVolumeSize(draft, [...DEVICES, i, "ebs", "volumeSize"]);
  const tags = mapAt(draft.object, TAGS);
  const ours = [...restrictedTags(tags as Readonly<Record<string, string>>), ...OLD_TAGS].filter(
    (key) => key !== "" && Object.hasOwn(tags, key),
  );
  for (const key of ours) {
    draft.remove([...TAGS, key]);
    draft.note("info", TAGS, `tag ${key} was left out: the system sets it`);
  }
}

/** Tags that older Karpenter versions set. */
const OLD_TAGS = ["karpenter.sh/provisioner-name", "karpenter.sh/managed-by"];

const GI = 2 ** 30;
/** A number without a unit up to this is taken for Gi; the largest EBS volume has 64 TiB. */
const MAX_UNITLESS_GI = 64_000;

/**
 * In v1, sizes are whole Gi, G, Ti or T; other amounts are rounded up to Gi. A number without a unit means bytes; a
 * small one is taken for Gi.
 */
function tidyVolumeSize(draft: ManifestDraft, at: Path): void {
  const size = draft.get(at);
  if (size === undefined || isJsonObject(size) || (typeof size === "string" && /^[1-9]\d*(Gi|G|Ti|T)$/.test(size))) return;
  const bytes = bytesOf(size);
  if (bytes === undefined || bytes <= 0) return;
  if (bytes <= MAX_UNITLESS_GI) {
    draft.set(at, `${bytes}Gi`);
    draft.note("act", at, `${JSON.stringify(size)} has no unit, which means bytes; it was taken for Gi: see that this is what was meant`);
  } else draft.set(at, `${Math.ceil(bytes / GI)}Gi`);
}

function bytesOf(size: Json): number | undefined {
  try {
    return parseQuantity(size as string | number) / 1000;
  } catch {
    return undefined;
  }
}
