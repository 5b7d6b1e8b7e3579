import type { InstanceType } from "../../core/model/instance-type.ts";
import { CAPACITY_TYPE, INSTANCE_TYPE } from "../../core/model/labels.ts";
import type { NodePool, NodeSelectorRequirementWithMinValues } from "../../core/model/node-pool.ts";
import { counted, listed } from "../../core/scheduling/reasons/words.ts";
import type { Change } from "../../core/what-if/change.ts";
import { InputError } from "../scenario/scenario.ts";
import { type Draft, poolNamed, put, unknown } from "./change-draft.ts";
import { setField } from "./field.ts";
import { applyManifests } from "./manifests.ts";
import type { Wishes } from "./options.ts";
import { type Source, typesByPool } from "./source.ts";

/** A change as the core takes it, and what is told about it. */
export interface AskedChange {
  readonly change: Change;
  /** One line for each thing that is changed. */
  readonly texts: readonly string[];
  /** What the answer leaves out of account. */
  readonly warnings: readonly string[];
}

/** What is asked for, worked into the cluster's definitions; undefined when nothing is. Throws InputError with one sentence. */
export function askedChange(wishes: Wishes, source: Source): AskedChange | undefined {
  const { snapshot, nodeClasses, nodeOverlays } = source;
  const byName = <T extends { readonly metadata: { readonly name: string } }>(list: readonly T[]) =>
    new Map(list.map((object) => [object.metadata.name, object]));
  const draft: Draft = {
    pools: byName(snapshot.nodePools),
    classes: byName(nodeClasses),
    overlays: byName(nodeOverlays),
    budgets: new Map(),
    ...{ deleted: [], texts: [], warnings: [] },
  };
  applyManifests(wishes.apply, draft, source);
  for (const assignment of wishes.set) setField(assignment, draft);
  for (const wish of wishes.budgets) setBudget(wish, draft);
  narrowTypes(wishes, draft, source);
  for (const name of wishes.deleted) {
    poolNamed(name, draft);
    draft.pools.delete(name);
    draft.deleted.push(name);
    draft.texts.push(`NodePool ${name} is deleted, and its nodes with it`);
  }
  if (Object.values(wishes).every(({ length }) => length === 0)) return undefined;
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

/** A scenario need not hold the classes of its pools; where it holds some, a pool that is changed must name one of them. */
function checkClasses(pools: readonly NodePool[], { classes }: Draft): void {
  for (const { metadata, spec } of pools) {
    const { name } = spec.template.spec.nodeClassRef;
    if (classes.size === 0 || classes.has(name)) continue;
    throw new InputError(
      `NodePool ${metadata.name} names EC2NodeClass ${name}, which is not there; there is ${listed([...classes.keys()])}`,
    );
  }
}

/** "default=20%", or "20%" for all pools: one budget in place of all that the pool has. */
function setBudget(wish: string, draft: Draft): void {
  const [, name, nodes = ""] = /^(?:(.+)=)?(\d+%?)$/.exec(wish) ?? [];
  if (nodes === "") throw new InputError(`--budget ${wish}: write POOL=NODES, as in default=20% or default=3`);
  const pools = name === undefined ? [...draft.pools.values()] : [poolNamed(name, draft)];
  for (const pool of pools) {
    const disruption = { consolidateAfter: "0s", ...pool.spec.disruption, budgets: [{ nodes }] };
    put(draft.pools, { ...pool, spec: { ...pool.spec, disruption } }, "NodePool", draft);
  }
}

const FAMILY = "karpenter.k8s.aws/instance-family";

/** Families and capacity types: in place of what the pool itself says of them, within what else it asks for. */
function narrowTypes({ families, notFamilies, capacityTypes, pools }: Wishes, draft: Draft, { snapshot }: Source): void {
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
    // By name: in some files neither types nor nodes say their family.
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
