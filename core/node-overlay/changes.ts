import type { InstanceType, Offering } from "../model/instance-type.ts";
import type { ResourceList } from "../model/kubernetes.ts";
import { INSTANCE_TYPE } from "../model/labels.ts";
import type { NodeOverlay, NodeOverlaySpec } from "../model/node-overlay.ts";
import { changedPrice } from "./price.ts";
import type { Clash } from "./verdict.ts";

export const weightOf = ({ spec }: NodeOverlay): number => spec.weight ?? 0;

/** The offerings of one type that an overlay is about; never empty. */
export interface Match {
  readonly type: InstanceType;
  readonly offerings: readonly Offering[];
}

/** Who set a thing first, and so decides it, and who was the last that would have. */
interface Setting {
  readonly by: NodeOverlay;
  readonly last: NodeOverlay;
}

/**
 * What overlays change about the types of one pool. They must be put in from the heaviest to the lightest: the first to set a thing wins, and one that
 * would set what another of its own weight sets clashes with it.
 */
export class Changes {
  readonly #prices = new Map<Offering, Setting>();
  readonly #capacity = new Map<InstanceType, Map<string, Setting>>();

  /** The first thing over which an overlay clashes with one that is in; undefined when there is none. */
  clash(overlay: NodeOverlay, matches: readonly Match[]): Omit<Clash, "nodePool"> | undefined {
    const weight = weightOf(overlay);
    for (const { type, offerings } of matches) {
      for (const offering of setsPrice(overlay.spec) ? offerings : []) {
        const other = this.#prices.get(offering)?.last;
        if (other !== undefined && weightOf(other) === weight) {
          return { other: other.metadata.name, weight, over: `the price of ${type.name} (${offering.capacityType}, ${offering.zone})` };
        }
      }
      for (const resource of Object.keys(overlay.spec.capacity ?? {})) {
        const other = this.#capacity.get(type)?.get(resource)?.last;
        if (other !== undefined && weightOf(other) === weight) {
          return { other: other.metadata.name, weight, over: `${resource} of ${type.name}` };
        }
      }
    }
    return undefined;
  }

  put(overlay: NodeOverlay, matches: readonly Match[]): void {
    for (const { type, offerings } of matches) {
      for (const offering of setsPrice(overlay.spec) ? offerings : []) {
        this.#prices.set(offering, { by: this.#prices.get(offering)?.by ?? overlay, last: overlay });
      }
      for (const resource of Object.keys(overlay.spec.capacity ?? {})) {
        const settings = this.#capacity.get(type) ?? new Map<string, Setting>();
        this.#capacity.set(type, settings.set(resource, { by: settings.get(resource)?.by ?? overlay, last: overlay }));
      }
    }
  }

  /** The types with their changes. One that nothing changes stays the same object, and so does the list when none changes. */
  applyTo(types: readonly InstanceType[]): readonly InstanceType[] {
    if (this.#prices.size === 0 && this.#capacity.size === 0) return types;
    return types.map((type) => {
      const settings = this.#capacity.get(type);
      const repriced = type.offerings.some((offering) => this.#prices.has(offering));
      if (settings === undefined && !repriced) return type;
      return {
        ...type,
        ...(settings !== undefined && { capacity: { ...type.capacity, ...promised(settings) }, capacityOverlaid: true as const }),
        ...(repriced && { offerings: type.offerings.map((offering) => this.#repriced(type, offering)) }),
      };
    });
  }

  #repriced(type: InstanceType, offering: Offering): Offering {
    const overlay = this.#prices.get(offering)?.by;
    if (overlay === undefined) return offering;
    const price = changedPrice(offering.price, overlay.spec);
    if (!offering.unpriced || !statesPriceOf(type, overlay.spec)) return { ...offering, price, priceOverlaid: true };
    const { unpriced: _, ...rest } = offering;
    return { ...rest, price, available: true, priceOverlaid: true };
  }
}

function setsPrice({ price, priceAdjustment }: NodeOverlaySpec): boolean {
  return price !== undefined || priceAdjustment !== undefined;
}

/** A price stands in for one that is not known only if it was given for instance types by name, and for nothing else (instance-types.md §8). */
function statesPriceOf(type: InstanceType, { price, requirements }: NodeOverlaySpec): boolean {
  const [only, ...others] = requirements;
  if (price === undefined || only === undefined || others.length > 0) return false;
  return only.key === INSTANCE_TYPE && only.operator === "In" && (only.values ?? []).includes(type.name);
}

function promised(settings: ReadonlyMap<string, Setting>): ResourceList {
  return Object.fromEntries([...settings].map(([resource, { by }]) => [resource, by.spec.capacity?.[resource] ?? 0]));
}
