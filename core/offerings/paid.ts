import { LruMap } from "../lib/lru-map.ts";
import type { InstanceType, Offering } from "../model/instance-type.ts";
import { type PaidFor, type PaidKind, paidKey, paysFor } from "../model/paid-capacity.ts";

/**
 * What a new machine that is paid for counts in a plan, as a share of its on-demand price. It costs nothing, but what
 * it uses of a commitment is gone for others: the share keeps plans from using more of it than their pods need, and is
 * below what spot costs of a type, 10 to 40 %. No benchmark has tuned it.
 */
export const NEW_PAID_SHARE = 0.1;

/**
 * What a machine that runs and is paid for counts, as a share of its on-demand price. Nothing that costs money may take
 * its place; the share keeps the order of types, as that of capacity reservations does.
 */
export const RUNNING_PAID_SHARE = 1e-7;

const OS = "kubernetes.io/os";
const TENANCY = "karpenter.k8s.aws/instance-tenancy";

/** Lists that are remembered for one list of types: each has its table. */
const MAX_REMEMBERED_LISTS = 8;
const known = new WeakMap<readonly InstanceType[], LruMap<string, readonly InstanceType[]>>();

/**
 * The types of a NodePool that some commitments pay for, with their on-demand offerings alone, at NEW_PAID_SHARE of the
 * price. Commitments are bought for Linux and shared tenancy. A price that a NodeOverlay gave stays as it is, and so
 * does the offering. The same lists and commitments give the same list, so that callers can cache by its identity.
 */
export function paidTypes(types: readonly InstanceType[], kind: PaidKind, commitments: readonly PaidFor[]): readonly InstanceType[] {
  const own = commitments.filter((of) => of.kind === kind);
  const text = `${kind} ${own.map(paidKey).join()}`;
  const lists = known.get(types) ?? new LruMap<string, readonly InstanceType[]>(MAX_REMEMBERED_LISTS);
  known.set(types, lists);
  const list = lists.get(text) ?? types.flatMap((type) => paidType(type, own));
  lists.set(text, list);
  return list;
}

function paidType(type: InstanceType, commitments: readonly PaidFor[]): readonly InstanceType[] {
  if (type.requirements.some(({ key, values }) => key === OS && values?.includes("windows"))) return [];
  const offerings = type.offerings.flatMap((offering): readonly Offering[] =>
    isPayable(offering) && commitments.some((of) => paysFor(of, type.name, offering.zone))
      ? [{ ...offering, price: offering.price * NEW_PAID_SHARE }]
      : [],
  );
  if (!offerings.some(({ available }) => available)) return [];
  const requirements = type.requirements.map((item) => (item.key === TENANCY ? { ...item, values: ["default"] } : item));
  return [{ ...type, requirements, offerings }];
}

/** Whether a commitment may pay for an offering. */
function isPayable({ capacityType, price, priceOverlaid }: Offering): boolean {
  return capacityType === "on-demand" && price > 0 && priceOverlaid !== true;
}

/**
 * On-demand price of an instance type in a zone, USD per hour, for which a commitment may pay; 0 without one, or for a
 * machine that commitments do not pay for.
 */
export function payablePrice(labels: Readonly<Record<string, string>>, type: InstanceType | undefined, zone: string): number {
  if (type === undefined || labels[OS] === "windows" || labels[TENANCY] === "dedicated") return 0;
  const offering = type.offerings.find((one) => one.zone === zone && one.capacityType === "on-demand");
  return offering !== undefined && isPayable(offering) ? offering.price : 0;
}
