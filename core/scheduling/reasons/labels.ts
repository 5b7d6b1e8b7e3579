import { nearest } from "../../lib/nearest.ts";
import type { Offering } from "../../model/instance-type.ts";
import { ARCH, CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL, WELL_KNOWN_LABELS, ZONE } from "../../model/labels.ts";
import { admitsOffering, OFFERING_KEYS } from "../../requirements/offerings.ts";
import { has, type Requirement } from "../../requirements/requirement.ts";
import type { Conflict, Requirements } from "../../requirements/requirements.ts";
import type { Template } from "../problem/template.ts";
import { type Bitset, fullBitset, hasBit, intersection, isEmpty, members, overlap } from "../tables/bitset.ts";
import { admits, isUsedUp } from "../tables/offering-table.ts";
import { inOrder, listed, requirementText } from "./words.ts";

/**
 * Why the pod's and the pool's requirements on a label conflict. `likely` finds the key that was meant by one that the
 * pool lacks.
 */
export function conflictText({ key, offered, wanted }: Conflict, likely: (key: string) => string | undefined): string {
  // The same text for all pools, so that they are listed together.
  if (key === NODE_POOL) return `the pod asks for other NodePools by ${requirementText(wanted)}`;
  if (offered === undefined) {
    const meant = likely(key);
    const fix = meant === undefined ? "add it to spec.template.metadata.labels, or drop it from the pod" : `did you mean ${meant}?`;
    return `the pod wants ${requirementText(wanted)}, and the pool gives its nodes no label ${key}; ${fix}`;
  }
  return `the pod wants ${requirementText(wanted)}, but the pool only allows ${requirementText(offered)}; ${meantValue(wanted, offered.complement ? [] : offered.values) ?? "change one of them"}`;
}

/**
 * The reason of a pod that requires NodePools of which none exists; undefined when it requires no pool, or an existing
 * one.
 */
export function noSuchPoolText(wanted: Requirement | undefined, pools: readonly string[]): string | undefined {
  if (wanted === undefined || wanted.complement || pools.some((name) => has(wanted, name))) return undefined;
  const meant = meantValue(wanted, pools);
  return `the pod asks for ${requirementText(wanted)}, and there is no such NodePool; ${meant ?? `there are ${listed(inOrder(pools))}`}`;
}

/**
 * Of the well-known labels and those that pools define, the one that was probably meant: it differs by a typing error,
 * or has the same name in another domain. Undefined without one.
 */
export function likelyKey(key: string, defined: Iterable<string>): string | undefined {
  const known = [...new Set([...WELL_KNOWN_LABELS, ...defined])].sort();
  const tail = key.slice(key.lastIndexOf("/") + 1);
  return nearest(key, known) ?? known.find((other) => other !== key && other.slice(other.lastIndexOf("/") + 1) === tail);
}

/** Other names of the values of kubernetes.io/arch. */
const ARCHITECTURES: ReadonlyMap<string, string> = new Map([
  ["x86_64", "amd64"],
  ["x86-64", "amd64"],
  ["aarch64", "arm64"],
]);

/** "did you mean …?" for a requirement on one value that is close to one of `values`; undefined without one. */
function meantValue(wanted: Requirement, values: Iterable<string>): string | undefined {
  const [value, ...others] = wanted.complement ? [] : wanted.values;
  if (value === undefined || others.length > 0) return undefined;
  // arm64 differs from amd64 by one letter only, but is no typing error.
  const meant = wanted.key === ARCH ? ARCHITECTURES.get(value.toLowerCase()) : nearest(value, values);
  return meant === undefined ? undefined : `did you mean ${meant}?`;
}

/**
 * Why no instance type of `base` is left under some compatible requirements: one requirement that no type meets, else
 * missing offerings, else two requirements that no type meets together.
 */
export function noTypeText(template: Template, wanted: Requirements, base: Bitset): string {
  const { table } = template;
  const items = [...wanted.values()]
    .filter((item) => OFFERING_KEYS.includes(item.key) || table.agreeing(item) !== undefined)
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const agreeing = items.map((item) => ({ item, types: table.agreeing(item) ?? fullBitset(table.types.length) }));
  for (const { item, types } of agreeing) if (!overlap(base, types)) return noneHas(template, item, base, types);
  const left = agreeing.reduce((rest, { types }) => intersection(rest, types), base);
  if (!isEmpty(left)) return offeringText(template, items, left);
  for (const [i, a] of agreeing.entries()) {
    for (const b of agreeing.slice(i + 1)) {
      const both = `${requirementText(a.item)} together with ${requirementText(b.item)}`;
      if (!overlap(intersection(base, a.types), b.types)) return `${noneOf(template, base, "has")} ${both}`;
    }
  }
  return `${noneOf(template, base, "has")} all of ${items.map(requirementText).join(", ")}`;
}

/** "none of its 4 instance types has"; up to 3 types are named. */
function noneOf({ table }: Template, types: Bitset, verb: "has" | "is available"): string {
  const names = members(types).map((t) => table.types[t]?.name ?? "");
  if (names.length === 1) return `its only instance type, ${names[0]}, ${verb === "has" ? "does not have" : "is unavailable"}`;
  return `none of its ${names.length > 3 ? `${names.length} instance types` : `instance types ${listed(names)}`} ${verb}`;
}

/** Why no type of `base` meets a requirement, with the values that they have. */
function noneHas(template: Template, item: Requirement, base: Bitset, elsewhere: Bitset): string {
  const values = inOrder(new Set(members(base).flatMap((t) => template.table.valuesOf(t, item.key))));
  const isNumber = values.some((value) => /^\d+$/.test(value));
  const odd = (item.gte ?? item.lte) !== undefined && !isNumber ? ", which are no numbers" : "";
  const theirs = item.key === INSTANCE_TYPE || values.length === 0 ? "" : ` (they have ${listed(values)}${odd})`;
  // A value that types outside the pool have is no typing error.
  const hint = isEmpty(elsewhere) ? meantValue(item, values) : leftOut(template, members(elsewhere));
  return `${noneOf(template, base, "has")} ${requirementText(item)}${theirs}${hint === undefined ? "" : `; ${hint}`}`;
}

/** The one requirement of the pool, or of the pod, that excludes all these types; undefined when no single one does. */
export function leftOut({ table, set }: Template, types: readonly number[], pod: Requirements = NO_REQUIREMENTS): string | undefined {
  const names = types.map((t) => table.types[t]?.name ?? "");
  for (const [requirements, who] of [[set.requirements, "the pool requires"] as const, [pod, "the pod wants"] as const]) {
    for (const item of requirements.values()) {
      const agreeing = table.agreeing(item);
      if (agreeing === undefined || types.some((t) => hasBit(agreeing, t))) continue;
      return `${listed(names, 3)} would do, but ${who} ${requirementText(item)}`;
    }
  }
  return undefined;
}

const NO_REQUIREMENTS: Requirements = new Map();

/** Why types are left but none of their offerings: no offering meets the requirements, or none is available now. */
function offeringText(template: Template, items: readonly Requirement[], types: Bitset): string {
  const { table } = template;
  const none = noneOf(template, types, "is available");
  const onOfferings = OFFERING_KEYS.map((key) => items.find((item) => item.key === key));
  const offerings = table.types.flatMap(({ name, offerings: all }, t) =>
    hasBit(types, t) ? all.map((offering) => ({ name, offering })) : [],
  );
  const texts = onOfferings.flatMap((item) => (item === undefined ? [] : [requirementText(item)]));
  const where = texts.length === 0 ? "" : ` with ${texts.join(" and ")}`;
  const matching = offerings.filter(({ offering }) => admits(onOfferings, offering));
  if (matching.length > 0) {
    const shown = matching.map(({ name, offering }) => `${name} ${offering.capacityType} in ${offering.zone}`);
    return `${none} now${where} (${listed(shown, 3)}): no capacity, no price or no subnet there, or no AMI of the EC2NodeClass boots it; allow more types, zones or capacity types`;
  }
  const full = offerings.flatMap(({ offering }) => (isUsedUp(offering) && admitsOffering(onOfferings, offering) ? [offering] : []));
  if (full.length > 0) return `${none} now${where}: ${fullText(full)}`;
  const left = offerings.filter(({ offering }) => !isUsedUp(offering));
  for (const key of [ZONE, CAPACITY_TYPE]) {
    const item = items.find((one) => one.key === key);
    const values = inOrder(new Set(left.map(({ offering }) => (key === ZONE ? offering.zone : offering.capacityType))));
    if (item !== undefined && !values.some((value) => has(item, value))) {
      const meant = meantValue(item, values);
      return `${none} with ${requirementText(item)}, only with ${listed(values)}${meant === undefined ? "" : `; ${meant}`}`;
    }
  }
  const ways = new Set(left.map(({ offering }) => `${offering.capacityType} in ${offering.zone}`));
  return `${none}${where}, only as ${listed(inOrder(ways), 6)}`;
}

/** "its reservation cr-1 is full (2 of 2)". */
function fullText(offerings: readonly Offering[]): string {
  const names = offerings.map(
    ({ reservationId = "", reservationSize: size }) => `${reservationId} is full${size === undefined ? "" : ` (${size} of ${size})`}`,
  );
  const distinct = inOrder(new Set(names));
  return `its ${distinct.length === 1 ? "reservation" : "reservations"} ${listed(distinct, 3)}; raise its size, or allow on-demand or spot`;
}
