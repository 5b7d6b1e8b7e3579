import type { InstanceType } from "../../model/instance-type.ts";
import type { ResourceList } from "../../model/kubernetes.ts";
import { parseAmount } from "../../model/quantity.ts";

/**
 * EBS volumes of pods, which scheduling counts like a resource. No type lists it and no NodeClaim requests it; the name
 * is that of kube-scheduler's former limit.
 */
export const EBS_VOLUMES = "attachable-volumes-aws-ebs";

/** Volumes of a type whose limit is not known. Finite, because rooms are multiplied. */
export const NO_VOLUME_LIMIT = 1_000_000;

/**
 * Capacity and allocatable of many instance types, in columns by resource. A run asks for few of the resources that a
 * type lists. A column is therefore read when its resource is first used, and equal quantities are parsed once.
 *
 *     const columns = new ResourceColumns(types);
 *     columns.allocatable("memory")[t]; // milli-bytes that pods may have on the type at index t
 */
export class ResourceColumns {
  /** Resources of which some type lists a capacity. */
  readonly names: ReadonlySet<string>;
  readonly #types: readonly InstanceType[];
  readonly #capacity = new Map<string, Float64Array>();
  readonly #allocatable = new Map<string, Float64Array>();
  readonly #milli = new Map<string | number, number>();

  constructor(types: readonly InstanceType[]) {
    this.#types = types;
    const names = new Set<string>();
    for (const { capacity } of types) for (const name in capacity) names.add(name);
    if (types.some(({ volumeLimit }) => volumeLimit !== undefined)) names.add(EBS_VOLUMES);
    this.names = names;
  }

  /** By type, in milli-units; 0 where a type does not list the resource. Throws RangeError for an invalid quantity. */
  capacity(name: string): Float64Array {
    if (name === EBS_VOLUMES)
      return this.#column(this.#capacity, name, () =>
        Float64Array.from(this.#types, ({ volumeLimit = NO_VOLUME_LIMIT }) => volumeLimit * 1000),
      );
    return this.#column(this.#capacity, name, () => Float64Array.from(this.#types, ({ capacity }) => this.#amount(capacity, name)));
  }

  /**
   * By type: the capacity less the reservations of kubelet and system and the eviction threshold; of memory, also less
   * the huge pages, which pin it. In milli-units. Throws RangeError for an invalid quantity.
   */
  allocatable(name: string): Float64Array {
    return this.#column(this.#allocatable, name, () => {
      const column = this.capacity(name).slice();
      this.#types.forEach(({ overhead: { kubeReserved, systemReserved, evictionThreshold } }, t) => {
        const reserved = this.#amount(kubeReserved, name) + this.#amount(systemReserved, name) + this.#amount(evictionThreshold, name);
        column[t] = (column[t] ?? 0) - reserved;
      });
      if (name === "memory") this.#subtractHugePages(column);
      return column;
    });
  }

  #column(columns: Map<string, Float64Array>, name: string, read: () => Float64Array): Float64Array {
    const known = columns.get(name);
    if (known !== undefined) return known;
    const column = read();
    // Tenants name as many other resources as they like, and the columns stay as long as the types.
    if (this.names.has(name)) columns.set(name, column);
    return column;
  }

  #subtractHugePages(memory: Float64Array): void {
    for (const pages of [...this.names].filter((name) => name.startsWith("hugepages-"))) {
      this.capacity(pages).forEach((amount, t) => {
        if (amount > 0) memory[t] = Math.max(0, (memory[t] ?? 0) - amount);
      });
    }
  }

  #amount(list: ResourceList | undefined, name: string): number {
    const quantity = list !== undefined && Object.hasOwn(list, name) ? list[name] : undefined;
    if (quantity === undefined) return 0;
    const known = this.#milli.get(quantity);
    if (known !== undefined) return known;
    const milli = parseAmount(name, quantity);
    this.#milli.set(quantity, milli);
    return milli;
  }
}
