import { nearest } from "../../lib/nearest.ts";
import { ownValue } from "../../lib/own-value.ts";
import type { PodData } from "../problem/pod-class.ts";
import type { Template } from "../problem/template.ts";
import { type Bitset, hasBit, members } from "../tables/bitset.ts";
import type { RequirementSets } from "../tables/requirement-sets.ts";
import { hasRoom, type ResourceAxis } from "../tables/resource-axis.ts";
import { leftOut } from "./labels.ts";
import { amountText, counted, listed } from "./words.ts";

/** A resource of which a type has less room than a pod requests; amounts in milli-units. */
interface Missing {
  readonly name: string;
  readonly asked: number;
  readonly room: number;
}

/** The largest types of a list. */
interface Widest {
  /** Types of the list for which no other has at least as much room of every resource. */
  readonly types: readonly number[];
  /** Number of types in the list. */
  readonly of: number;
}

/** Explains what the closest instance type of a pool lacks for a pod. The largest types of each list are found once. */
export class RoomReasons {
  readonly #axis: ResourceAxis;
  readonly #sets: RequirementSets;
  readonly #widest = new Map<string, Widest>();

  constructor({ axis, sets }: { readonly axis: ResourceAxis; readonly sets: RequirementSets }) {
    this.#axis = axis;
    this.#sets = sets;
  }

  /**
   * Whether some of the types have room for the pod beside their DaemonSets. `key` identifies the list of types within
   * the pool.
   */
  isRoomy(template: Template, key: string, types: Bitset, { vector }: PodData): boolean {
    return this.#widestOf(template, key, types).types.some((t) => hasRoom(template.room, t * this.#axis.names.length, vector));
  }

  /** The types with room for the pod. */
  roomy(template: Template, types: Bitset, podData: PodData): readonly number[] {
    return members(types).filter((t) => this.fits(template, t, podData));
  }

  /** Whether a type has room for the pod beside its DaemonSets. */
  fits(template: Template, t: number, { vector }: PodData): boolean {
    return hasRoom(template.room, t * this.#axis.names.length, vector);
  }

  /** What the pod requests, how much of it the closest type lacks, and what takes the rest of that type. */
  text(template: Template, key: string, types: Bitset, podData: PodData): string {
    const { types: widest, of: count } = this.#widestOf(template, key, types);
    const { requests } = podData.class;
    const absent = Object.keys(requests)
      .sort()
      .find((name) => (requests[name] ?? 0) > 0 && widest.every((t) => (template.table.amounts.capacity(name)[t] ?? 0) === 0));
    const elsewhere = this.#elsewhere(template, types, podData);
    if (absent !== undefined) {
      const meant = nearest(absent, template.table.amounts.names);
      const hint = elsewhere ?? (meant === undefined ? undefined : `did you mean ${meant}?`);
      const asked = amountText(ownValue(requests, absent) ?? 0, absent);
      return `the pod asks for ${absent} ${asked}, which none of its ${counted(count, "instance type")} has${hint === undefined ? "" : `; ${hint}`}`;
    }
    const { t, missing } = this.#closest(template, widest, podData);
    const asked = missing.map(({ name, asked: amount }) => `${name} ${amountText(amount, name)}`);
    const short = missing.map((item) => shortText(template, t, item));
    const daemons = daemonNames(template, t, missing);
    const name = template.table.types[t]?.name;
    const type = count === 1 ? `its only instance type for it, ${name}` : `the closest of its ${count} instance types, ${name}`;
    return `the pod asks for ${listed(asked)}, and ${type}, ${short.join(" and ")}${daemons}${elsewhere === undefined ? "" : `; ${elsewhere}`}`;
  }

  /** Types of the whole catalogue with room, cheapest first, and the requirement that excludes them from the pool. */
  #elsewhere(template: Template, types: Bitset, podData: PodData): string | undefined {
    const all = this.#widestOf(template, "all", undefined);
    if (!all.types.some((t) => this.fits(template, t, podData))) return undefined;
    const { order } = template.table.prices(this.#sets.intern(new Map()));
    const others = order.filter((t) => !hasBit(types, t) && this.fits(template, t, podData));
    return others.length === 0 ? undefined : leftOut(template, others, podData.set.requirements);
  }

  /** The largest types of a list (default: the whole catalogue); of equal types the cheapest. */
  #widestOf(template: Template, key: string, types: Bitset | undefined): Widest {
    const id = `${template.index} ${key}`;
    const known = this.#widest.get(id);
    if (known !== undefined) return known;
    const width = this.#axis.names.length;
    const isWithin = (a: number, b: number): boolean => {
      for (let r = 0; r < width; r++) if ((template.room[a * width + r] ?? 0) > (template.room[b * width + r] ?? 0)) return false;
      return true;
    };
    let widest: number[] = [];
    let of = 0;
    for (const t of template.table.prices(this.#sets.intern(new Map())).order) {
      if (types !== undefined && !hasBit(types, t)) continue;
      of++;
      if (widest.some((other) => isWithin(t, other))) continue;
      widest = [...widest.filter((other) => !isWithin(other, t)), t];
    }
    const found = { types: widest, of };
    this.#widest.set(id, found);
    return found;
  }

  /** The type that lacks least, summed over resources as a share of the pod's request. */
  #closest(
    template: Template,
    widest: readonly number[],
    { vector }: PodData,
  ): { readonly t: number; readonly missing: readonly Missing[] } {
    const { names } = this.#axis;
    const roomOf = (t: number, r: number): number => Math.max(0, template.room[t * names.length + r] ?? 0);
    let closest = widest[0] ?? 0;
    let lowest = Number.POSITIVE_INFINITY;
    for (const t of widest) {
      let distance = 0;
      for (let r = 0; r < vector.length; r++) {
        const asked = vector[r] ?? 0;
        if (asked > roomOf(t, r)) distance += 1 - roomOf(t, r) / asked;
      }
      if (distance < lowest) [closest, lowest] = [t, distance];
    }
    const missing = names.flatMap((name, r): readonly Missing[] => {
      const [asked, room] = [vector[r] ?? 0, roomOf(closest, r)];
      return asked > room ? [{ name, asked, room }] : [];
    });
    return { t: closest, missing };
  }
}

/** "has 15.9 (16 less 100m for the system), 184.1 too little". */
function shortText({ table, daemonGroups, daemonGroupOf }: Template, t: number, { name, asked, room }: Missing): string {
  const capacity = table.amounts.capacity(name)[t] ?? 0;
  const system = capacity - (table.amounts.allocatable(name)[t] ?? 0);
  const daemons = ownValue(daemonGroups[daemonGroupOf[t] ?? 0]?.overhead, name) ?? 0;
  const parts = [
    ...(system > 0 ? [`${amountText(system, name, "up")} for the system`] : []),
    ...(daemons > 0 ? [`${amountText(daemons, name, "up")} for daemonsets`] : []),
  ];
  const less = parts.length === 0 ? "" : ` (${amountText(capacity, name)} less ${parts.join(" and ")})`;
  return `has ${name} ${amountText(room, name)}${less}, ${amountText(asked - room, name, "up")} too little`;
}

/**
 * The DaemonSets without which the type would have room, because they can be changed; empty when it lacks room even
 * then.
 */
function daemonNames({ daemonGroups, daemonGroupOf }: Template, t: number, missing: readonly Missing[]): string {
  const group = daemonGroups[daemonGroupOf[t] ?? 0];
  if (group === undefined || missing.some(({ name, asked, room }) => asked > room + (ownValue(group.overhead, name) ?? 0))) return "";
  const requesting = group.daemons.filter(({ requests }) => missing.some(({ name }) => (ownValue(requests, name) ?? 0) > 0));
  return `; without daemonset${requesting.length === 1 ? "" : "s"} ${listed(requesting.map(({ name }) => name))} it would have room`;
}
