import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { NodeOverlay } from "#core/model/node-overlay.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { PodDisruptionBudget } from "#core/model/workloads.ts";
import { counted, listed } from "#core/scheduling/reasons/words.ts";
import { withDefaults } from "#manifests/defaults.ts";
import { loadManifests, ManifestError } from "#manifests/read.ts";
import { InputError } from "#terminal/input-error.ts";
import { type ChangeDraft, put } from "./change-draft.ts";
import type { Source } from "./source.ts";

const KINDS = ["NodePool", "EC2NodeClass", "NodeOverlay", "PodDisruptionBudget"];

/** Puts manifests into the draft as `kubectl apply` would. Throws InputError. */
export function applyManifests(paths: readonly string[], draft: ChangeDraft, source: Source): void {
  if (paths.length === 0) return;
  const ignoredKinds = new Map<string, number>();
  for (const { object } of manifestsIn(paths, draft)) {
    const { kind = "", metadata } = object;
    if (!KINDS.includes(kind)) {
      ignoredKinds.set(kind, (ignoredKinds.get(kind) ?? 0) + 1);
      continue;
    }
    const full = withDefaults(object, { priorityClass: () => undefined });
    if (kind === "NodePool") put(draft.pools, full as unknown as NodePool, kind, draft);
    else if (kind === "EC2NodeClass") putClass(full as unknown as EC2NodeClass, draft, source);
    else if (kind === "NodeOverlay") put(draft.overlays, full as unknown as NodeOverlay, kind, draft);
    else {
      const pdb = full as unknown as PodDisruptionBudget;
      draft.budgets.set(`${metadata.namespace ?? "default"}/${metadata.name}`, pdb);
      draft.texts.push(`PodDisruptionBudget ${metadata.namespace ?? "default"}/${metadata.name} as in the manifest`);
    }
  }
  const kinds = [...ignoredKinds].map(([kind, n]) => counted(n, kind));
  if (kinds.length > 0)
    draft.warnings.push(
      `${listed(kinds)} of the manifests ${kinds.length === 1 ? "is" : "are"} passed over: --apply takes ${listed(KINDS)}`,
    );
}

function manifestsIn(paths: readonly string[], { warnings }: ChangeDraft) {
  try {
    return loadManifests(paths, process.env, (sentence) => void warnings.push(sentence));
  } catch (error) {
    if (error instanceof ManifestError) throw new InputError(error.message);
    throw error;
  }
}

/**
 * What a saved snapshot holds in place of user data (save.ts). The user data of an applied class count as unchanged
 * then.
 */
const LEFT_OUT = /^left out \(/;

function putClass(given: EC2NodeClass, draft: ChangeDraft, source: Source): void {
  const { name } = given.metadata;
  const old = draft.classes.get(name);
  const isHidden = LEFT_OUT.test(old?.spec.userData ?? "");
  const object = isHidden && old?.spec.userData !== undefined ? { ...given, spec: { ...given.spec, userData: old.spec.userData } } : given;
  if (isHidden)
    draft.warnings.push(`EC2NodeClass ${name}: the snapshot holds no user data, so that of the manifest is taken to be the same`);
  const like = old ?? [...draft.classes.values()][0];
  put(draft.classes, { ...object, ...(like?.status && { status: like.status }) }, "EC2NodeClass", draft);
  if (draft.classes.get(name) === old) return;
  if (old === undefined && like !== undefined)
    draft.warnings.push(`EC2NodeClass ${name} is new: subnets and AMIs are not looked up, those of ${like.metadata.name} are taken`);
  else if (old !== undefined && selects(old) !== selects(object))
    draft.warnings.push(`EC2NodeClass ${name}: what its changed selectors find is not looked up; nodes may drift for it besides`);
  if (!source.knowsClasses)
    draft.warnings.push(
      `EC2NodeClass ${name}: instance types are those of the snapshot; what the change makes of their room does not show`,
    );
}

const selects = ({ spec }: EC2NodeClass): string =>
  JSON.stringify([spec.subnetSelectorTerms, spec.securityGroupSelectorTerms, spec.amiSelectorTerms]);
