import { isJsonObject, type Json, type JsonObject, listAt, mapAt, type Path } from "../../lib/json.ts";
import { ManifestDraft } from "../draft.ts";
import { TEMPLATE_SPEC } from "../node-pool.ts";
import { AWS, NODE_CLASS_KIND } from "../versions.ts";
import { kubeletSettings, type Made } from "./kubelet.ts";
import { tidyMetadata, tidyNames, tidyRequirements } from "./metadata.ts";
import { takeNodeTemplate } from "./node-class.ts";
import { noteRemains, Remains } from "./remains.ts";

const REQUIREMENTS: Path = [...TEMPLATE_SPEC, "requirements"];
const EXPIRE_AFTER: Path = [...TEMPLATE_SPEC, "expireAfter"];
const DISRUPTION: Path = ["spec", "disruption"];
const POLICY: Path = [...DISRUPTION, "consolidationPolicy"];
const CONSOLIDATE_AFTER: Path = [...DISRUPTION, "consolidateAfter"];

/** A v1alpha5 Provisioner as a NodePool, and its `provider` block as an EC2NodeClass. */
export function upgradeProvisioner(object: JsonObject, input: number): readonly Made[] {
  const remains = new Remains(object);
  for (const field of ["apiVersion", "kind", "status"]) remains.take([field]);
  const pool = ManifestDraft.empty(input);
  pool.set(["apiVersion"], "karpenter.sh/v1");
  pool.set(["kind"], "NodePool");
  remains.carry(["metadata"], pool, ["metadata"]);
  tidyMetadata(pool);
  const provided = takeTemplate(remains, pool);
  takeDisruption(remains, pool);
  remains.carry(["spec", "limits", "resources"], pool, ["spec", "limits"]);
  remains.carry(["spec", "weight"], pool, ["spec", "weight"]);
  const settings = kubeletSettings(remains.take(["spec", "kubeletConfiguration"]) ?? null);
  noteRemains(remains, [], pool);
  const made = { draft: pool, ...(settings && { kubelet: { settings, from: ["spec", "kubeletConfiguration"] } }) };
  return provided === undefined ? [made] : [made, { draft: provided }];
}

/** Fills the template; returns the EC2NodeClass of the Provisioner's `provider` block. */
function takeTemplate(remains: Remains, pool: ManifestDraft): ManifestDraft | undefined {
  remains.carry(["spec", "labels"], pool, ["spec", "template", "metadata", "labels"]);
  remains.carry(["spec", "annotations"], pool, ["spec", "template", "metadata", "annotations"]);
  tidyNames(pool, ["spec", "template", "metadata"]);
  pool.set(REQUIREMENTS, []);
  remains.carry(["spec", "requirements"], pool, REQUIREMENTS);
  tidyRequirements(pool, REQUIREMENTS);
  addDefaults(pool);
  for (const field of ["taints", "startupTaints"]) remains.carry(["spec", field], pool, [...TEMPLATE_SPEC, field]);
  const provided = isJsonObject(remains.get(["spec", "provider"])) ? nodeClassOf(remains, pool) : undefined;
  const name = provided ? pool.get(["metadata", "name"]) : remains.get(["spec", "providerRef", "name"]);
  const ref = { group: AWS, kind: NODE_CLASS_KIND, ...(name !== undefined && { name }) };
  if (name !== undefined) pool.set([...TEMPLATE_SPEC, "nodeClassRef"], ref, provided ? ["spec", "provider"] : ["spec", "providerRef"]);
  remains.take(["spec", "providerRef"]);
  return provided;
}

function nodeClassOf(remains: Remains, pool: ManifestDraft): ManifestDraft {
  const name = pool.get(["metadata", "name"]);
  const draft = ManifestDraft.empty(pool.input);
  draft.set(["apiVersion"], `${AWS}/v1`);
  draft.set(["kind"], NODE_CLASS_KIND);
  draft.set(["metadata"], { ...(name !== undefined && { name }) });
  takeNodeTemplate(remains, ["spec", "provider"], draft);
  return draft;
}

interface Default {
  readonly requirement: JsonObject;
  /** Labels that replace the default: any of them in the requirements or labels suffices. */
  readonly unless: readonly string[];
}

const TYPE_LABELS = [
  "node.kubernetes.io/instance-type",
  "karpenter.k8s.aws/instance-family",
  "karpenter.k8s.aws/instance-category",
  "karpenter.k8s.aws/instance-generation",
];

const oneOf = (key: string, ...values: readonly string[]): JsonObject => ({ key, operator: "In", values });

/** Requirements that v1alpha5's webhook added, and that v1 does not add. */
const DEFAULTS: readonly Default[] = [
  { requirement: oneOf("kubernetes.io/os", "linux"), unless: ["kubernetes.io/os"] },
  { requirement: oneOf("kubernetes.io/arch", "amd64"), unless: ["kubernetes.io/arch"] },
  { requirement: oneOf("karpenter.sh/capacity-type", "on-demand"), unless: ["karpenter.sh/capacity-type"] },
  { requirement: oneOf("karpenter.k8s.aws/instance-category", "c", "m", "r"), unless: TYPE_LABELS },
  { requirement: { key: "karpenter.k8s.aws/instance-generation", operator: "Gt", values: ["2"] }, unless: TYPE_LABELS },
];

function addDefaults(pool: ManifestDraft): void {
  const given = listAt(pool.object, REQUIREMENTS);
  const labels = Object.keys(mapAt(pool.object, ["spec", "template", "metadata", "labels"]));
  const keys = new Set<Json | undefined>([...labels, ...given.map((item) => (isJsonObject(item) ? item["key"] : undefined))]);
  const added = DEFAULTS.filter(({ unless }) => !unless.some((key) => keys.has(key))).map(({ requirement }) => requirement);
  if (added.length === 0) return;
  pool.set(REQUIREMENTS, [...given, ...added]);
  const what = added.length === 1 ? "this was a default" : "this and what follows were defaults";
  pool.note("info", [...REQUIREMENTS, given.length], `${what} of v1alpha5; v1 has none, so without it any kind of machine may be launched`);
}

function takeDisruption(remains: Remains, pool: ManifestDraft): void {
  const isConsolidating = remains.get(["spec", "consolidation", "enabled"]);
  const emptyTtl = remains.get(["spec", "ttlSecondsAfterEmpty"]);
  if (isConsolidating === true) {
    pool.set(POLICY, "WhenEmptyOrUnderutilized", ["spec", "consolidation", "enabled"]);
    pool.set(CONSOLIDATE_AFTER, "0s");
    if (emptyTtl !== undefined) {
      pool.note(
        "info",
        POLICY,
        `ttlSecondsAfterEmpty: ${JSON.stringify(emptyTtl)} excludes consolidation and was left out; consolidation takes empty nodes too`,
      );
    }
  } else if (emptyTtl !== undefined) {
    pool.set(POLICY, "WhenEmpty");
    pool.set(CONSOLIDATE_AFTER, seconds(emptyTtl), ["spec", "ttlSecondsAfterEmpty"]);
  } else {
    pool.set(POLICY, "WhenEmpty", ["spec", "consolidation", "enabled"]);
    pool.set(CONSOLIDATE_AFTER, "Never");
    pool.note(
      "info",
      CONSOLIDATE_AFTER,
      "the Provisioner neither consolidated nor took empty nodes away; v1 does both unless this says Never",
    );
  }
  pool.set(EXPIRE_AFTER, "Never");
  remains.carry(["spec", "ttlSecondsUntilExpired"], pool, EXPIRE_AFTER, seconds);
  if (pool.get(EXPIRE_AFTER) !== "Never") noteExpiry(pool);
  for (const field of ["consolidation", "ttlSecondsAfterEmpty"]) remains.take(["spec", field]);
}

/** Notes what changes for a NodePool whose nodes expire. */
export function noteExpiry(pool: ManifestDraft): void {
  pool.note(
    "info",
    EXPIRE_AFTER,
    "expiry waits in v1 neither for a replacement nor for budgets; terminationGracePeriod bounds how long it drains",
  );
}

/**
 * Seconds as a Go duration, in hours or minutes where they are whole. A text (a placeholder) gets its unit; a value of
 * another kind is kept, so that what checks the NodePool names it.
 */
function seconds(value: Json): Json {
  if (typeof value !== "number") return typeof value === "string" ? `${value}s` : value;
  if (value === 0) return "0s";
  if (value % 3600 === 0) return `${value / 3600}h`;
  return value % 60 === 0 ? `${value / 60}m` : `${value}s`;
}
