import { isJsonObject, type Json, type JsonObject, listAt, mapAt, type Path } from "../../lib/json.ts";
import type { ManifestDraft } from "../draft.ts";

/** Fields that the API server or a controller writes; they do not belong in a manifest. */
const WRITTEN_BY_SERVERS = [
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "managedFields",
  "selfLink",
  // On Machines and NodeClaims: the owner has another kind and UID in v1.
  "ownerReferences",
];

const GONE = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  "karpenter.sh/provisioner-hash",
  "karpenter.sh/nodepool-hash",
  "karpenter.sh/nodepool-hash-version",
  "karpenter.k8s.aws/nodetemplate-hash",
  "karpenter.k8s.aws/ec2nodeclass-hash",
  "karpenter.k8s.aws/ec2nodeclass-hash-version",
  "karpenter.sh/stored-version-migrated",
  "karpenter.sh/emptiness-timestamp",
  "karpenter.sh/linked",
  "karpenter.sh/managed-by",
]);

/** Renamed labels, annotations and requirement keys; their meaning is unchanged. */
const RENAMED: Readonly<Record<string, string>> = {
  "karpenter.sh/provisioner-name": "karpenter.sh/nodepool",
  "karpenter.sh/do-not-consolidate": "karpenter.sh/do-not-disrupt",
  "karpenter.sh/do-not-evict": "karpenter.sh/do-not-disrupt",
};

/**
 * Keeps what a person writes: removes the status and the fields that servers set, and renames old labels and
 * annotations.
 */
export function tidyMetadata(draft: ManifestDraft): void {
  draft.remove(["status"]);
  for (const field of WRITTEN_BY_SERVERS) draft.remove(["metadata", field]);
  const finalizers = listAt(draft.object, FINALIZERS).filter((name) => !String(name).startsWith("karpenter."));
  if (draft.get(FINALIZERS) !== undefined) draft.set(FINALIZERS, finalizers.length > 0 ? finalizers : undefined);
  tidyNames(draft, ["metadata"]);
}

const FINALIZERS: Path = ["metadata", "finalizers"];

/** Renames the old labels and annotations of an object or a template. */
export function tidyNames(draft: ManifestDraft, metadata: Path): void {
  for (const field of ["labels", "annotations"]) {
    const at = [...metadata, field];
    const names = Object.keys(mapAt(draft.object, at));
    for (const name of names) {
      const now = Object.hasOwn(RENAMED, name) ? RENAMED[name] : undefined;
      if (GONE.has(name)) draft.remove([...at, name]);
      else if (now !== undefined) draft.rename([...at, name], [...at, now]);
    }
    if (names.length > 0 && Object.keys(mapAt(draft.object, at)).length === 0) draft.remove(at);
  }
}

const NO_LABEL = "karpenter.k8s.aws/instance-pods";

/** Renames the old keys of requirements; removes requirements on a label that no longer exists, with a note. */
export function tidyRequirements(draft: ManifestDraft, at: Path): void {
  const requirements = draft.get(at);
  if (!Array.isArray(requirements)) return;
  const from = draft.sourceOf(at) ?? at;
  const kept = requirements.map((item: Json, i) => [item, i] as const).filter(([item]) => !isJsonObject(item) || item["key"] !== NO_LABEL);
  draft.set(
    at,
    kept.map(([item]) => (isJsonObject(item) ? withKeyOfToday(item) : item)),
  );
  if (kept.length === requirements.length) return;
  for (const [k, [, i]] of kept.entries()) draft.origins.push({ to: [...at, k], input: draft.input, from: [...from, i] });
  draft.note(
    "act",
    at,
    `a requirement on ${NO_LABEL} was left out, since nodes have no such label any more; require instance-cpu or instance-size`,
  );
}

function withKeyOfToday(requirement: JsonObject): JsonObject {
  const now = RENAMED[String(requirement["key"])];
  return now === undefined ? requirement : { ...requirement, key: now };
}
