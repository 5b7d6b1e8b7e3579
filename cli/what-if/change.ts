import type { Change } from "#core/insight/what-if/change.ts";
import type { InstanceType } from "#core/model/instance-type.ts";
import { CAPACITY_TYPE, INSTANCE_TYPE } from "#core/model/labels.ts";
import type { NodePool, NodeSelectorRequirementWithMinValues } from "#core/model/node-pool.ts";
import { counted, listed } from "#core/scheduling/reasons/words.ts";
import { manifestProblems } from "#manifests/check.ts";
import { InputError } from "#terminal/input-error.ts";
import { type ChangeDraft, poolNamed, put, unknown } from "./change-draft.ts";
import { setField } from "./field.ts";
import { applyManifests } from "./manifests.ts";
import type { ChangeRequest } from "./options.ts";
import { type Source, typesByPool } from "./source.ts";

/** A change as the core takes it, and the sentences about it. */
interface RequestedChange {
  readonly change: Change;
  /** One line for each thing that is changed. */
  readonly texts: readonly string[];
  /** What the answer does not take into account. */
  readonly warnings: readonly string[];
}

/** The cluster's definitions with the request applied; undefined when the request is empty. Throws InputError. */
export function requestedChange(request: ChangeRequest, source: Source): RequestedChange | undefined {
  const { snapshot, nodeClasses, nodeOverlays } = source;
  const byName = <T extends { readonly metadata: { readonly name: string } }>(list: readonly T[]) =>
    new Map(list.map((object) => [object.metadata.name, object]));
  const draft: ChangeDraft = {
    pools: byName(snapshot.nodePools),
    classes: byName(nodeClasses),
    overlays: byName(nodeOverlays),
    budgets: new Map(),
    ...{ deleted: [], texts: [], warnings: [] },
  };
  applyManifests(request.apply, draft, source);
  for (const assignment of request.set) setField(assignment, draft);
  for (const budget of request.budgets) setBudget(budget, draft);
  narrowTypes(request, draft, source);
  for (const name of request.deleted) {
    poolNamed(name, draft);
    draft.pools.delete(name);
    draft.deleted.push(name);
    draft.texts.push(`NodePool ${name} is deleted, and its nodes with it`);
  }
  if (Object.values(request).every(({ length }) => length === 0)) return undefined;
  if (draft.texts.length === 0) draft.warnings.push("what is asked for is what the cluster has already");
  const pools = [...draft.pools.values()];
  const classes = [...draft.classes.values()];
  const overlays = [...draft.overlays.values()];
  const isNew =
    <T>(list: readonly T[]) =>
    (object: T) =>
      !list.includes(object);
  checkClasses(pools.filter(isNew(snapshot.nodePools)), draft);
  const retyped =
    classes.some(isNew(nodeClasses)) ||
    overlays.some(isNew(nodeOverlays)) ||
    pools.some(({ metadata }) => !snapshot.instanceTypes.has(metadata.name));
  const change: Change = {
    nodePools: pools.filter(isNew(snapshot.nodePools)),
    nodeClasses: classes.filter(isNew(nodeClasses)),
    podDisruptionBudgets: [...draft.budgets.values()],
    deletedPools: draft.deleted,
    ...(retyped && { instanceTypes: typesByPool(source, pools, classes, overlays) }),
  };
  return { change, texts: draft.texts, warnings: draft.warnings };
}

/** A scenario may leave the classes of its pools out. Where it holds some, a changed pool must name one of them. */
function checkClasses(pools: readonly NodePool[], { classes }: ChangeDraft): void {
  for (const { metadata, spec } of pools) {
    const { name } = spec.template.spec.nodeClassRef;
    if (classes.size === 0 || classes.has(name)) continue;
    throw new InputError(
      `NodePool ${metadata.name} names EC2NodeClass ${name}, which is not there; there is ${listed([...classes.keys()])}`,
    );
  }
}

/** Replaces all budgets of a pool by one: "default=20%", or "20%" for all pools. Throws InputError. */
function setBudget(text: string, draft: ChangeDraft): void {
  const [, name, nodes = ""] = /^(?:(.+)=)?(\d+%?)$/.exec(text) ?? [];
  if (nodes === "") throw new InputError(`--budget ${text}: write POOL=NODES, as in default=20% or default=3`);
  const pools = name === undefined ? [...draft.pools.values()] : [poolNamed(name, draft)];
  for (const pool of pools) {
    const disruption = { ...pool.spec.disruption, budgets: [{ nodes }] };
    const changed = { ...pool, spec: { ...pool.spec, disruption } };
    const problems = manifestProblems({ ...changed, apiVersion: "karpenter.sh/v1", kind: "NodePool" });
    const problem = problems.find(({ path }) => path.join(".").startsWith("spec.disruption.budgets"));
    if (problem !== undefined) throw new InputError(`--budget ${text}: ${problem.path.join(".")} ${problem.message}`);
    put(draft.pools, changed, "NodePool", draft);
  }
}

const FAMILY = "karpenter.k8s.aws/instance-family";

/**
 * Replaces what the pools require of families and capacity types; their other requirements stay. Throws InputError.
 */
function narrowTypes({ families, notFamilies, capacityTypes, pools }: ChangeRequest, draft: ChangeDraft, { snapshot }: Source): void {
  if (families.length + notFamilies.length + capacityTypes.length === 0) {
    if (pools.length > 0)
      throw new InputError("--pool says which pools --family, --not-family or --capacity-type are about; give one of these too");
    return;
  }
  const known = new Set([...snapshot.instanceTypes.values()].flat().map(familyOf));
  for (const family of [...families, ...notFamilies]) if (!known.has(family)) throw unknown("instance family", family, known);
  for (const type of capacityTypes)
    if (!["spot", "on-demand", "reserved"].includes(type)) throw unknown("capacity type", type, ["spot", "on-demand", "reserved"]);
  const chosen = pools.length === 0 ? [...draft.pools.values()] : pools.map((name) => poolNamed(name, draft));
  for (const pool of chosen) {
    const { name } = pool.metadata;
    const types = snapshot.instanceTypes.get(name) ?? [...snapshot.instanceTypes.values()][0] ?? [];
    const left = types.filter(
      (type) => (families.length === 0 || families.includes(familyOf(type))) && !notFamilies.includes(familyOf(type)),
    );
    const isAbout = (key: string): boolean =>
      (families.length > 0 && key === FAMILY) || (capacityTypes.length > 0 && key === CAPACITY_TYPE);
    const requirements: NodeSelectorRequirementWithMinValues[] = pool.spec.template.spec.requirements.filter(({ key }) => !isAbout(key));
    // By type name, because in some files neither types nor nodes have a family label.
    if (left.length < types.length) requirements.push({ key: INSTANCE_TYPE, operator: "In", values: left.map((type) => type.name) });
    if (capacityTypes.length > 0) requirements.push({ key: CAPACITY_TYPE, operator: "In", values: capacityTypes });
    const { template } = pool.spec;
    draft.pools.set(name, { ...pool, spec: { ...pool.spec, template: { ...template, spec: { ...template.spec, requirements } } } });
    const parts = [
      ...(families.length > 0 ? [`only families ${listed(families)}`] : []),
      ...(notFamilies.length > 0 ? [`without families ${listed(notFamilies)}`] : []),
      ...(capacityTypes.length > 0 ? [`only ${listed(capacityTypes)}`] : []),
    ];
    draft.texts.push(`NodePool ${name}: ${parts.join(", ")} (${left.length} of ${counted(types.length, "type")})`);
  }
}

function familyOf({ name, requirements }: InstanceType): string {
  const stated = requirements.find(({ key, operator }) => key === FAMILY && operator === "In")?.values?.[0];
  return stated ?? name.split(".")[0] ?? name;
}
