import { ownValue } from "../lib/own-value.ts";
import type { InstanceType, Offering } from "../model/instance-type.ts";
import type { ResourceList } from "../model/kubernetes.ts";
import { INSTANCE_TYPE } from "../model/labels.ts";
import type { NodeOverlay, NodeOverlaySpec } from "../model/node-overlay.ts";
import { changedPrice } from "./price.ts";
import type { Clash } from "./verdict.ts";

export const weightOf = ({ spec }: NodeOverlay): number => spec.weight ?? 0;

/** The offerings of one instance type that an overlay selects; never empty. */
export interface Match {
  readonly type: InstanceType;
  readonly offerings: readonly Offering[];
}

/** The overlay that set a value first, which wins, and the last overlay that wanted to set it. */
interface Setting {
  readonly by: NodeOverlay;
  readonly last: NodeOverlay;
}

/**
 * The changes of overlays to the instance types of one NodePool. Put overlays in from the greatest to the smallest
 * weight: the first overlay to set a value wins, and an overlay of the same weight that sets the same value conflicts
 * with it.
 */
export class Changes {
  readonly #prices = new Map<Offering, Setting>();
  readonly #capacity = new Map<InstanceType, Map<string, Setting>>();

  /** The first conflict of an overlay with an overlay that is already in; undefined when it has no conflict. */
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

  /**
   * The instance types with their changes. An unchanged type stays the same object, and so does the list when no type
   * changes.
   */
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

/**
 * A price replaces an unknown price only if the overlay selects instance types by name, and by nothing else
 * (karpenter-provider-aws: pkg/providers/instancetype/offering/offering.go, DefaultProvider.GetOverlayPrice).
 */
function statesPriceOf(type: InstanceType, { price, requirements }: NodeOverlaySpec): boolean {
  const [only, ...others] = requirements;
  if (price === undefined || only === undefined || others.length > 0) return false;
  return only.key === INSTANCE_TYPE && only.operator === "In" && (only.values ?? []).includes(type.name);
}

function promised(settings: ReadonlyMap<string, Setting>): ResourceList {
  return Object.fromEntries([...settings].map(([resource, { by }]) => [resource, ownValue(by.spec.capacity, resource) ?? 0]));
}
