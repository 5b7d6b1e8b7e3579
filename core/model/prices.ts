/**
 * What a node costs beside its instance, USD per hour: its root volume (20 GiB of gp3 at $0.08 a GiB-month). Without it two small nodes
 * would look as good as one large one at the same price.
 */
export const NODE_HOUR = 0.0022;

/**
 * What a new node counts as in consolidation beside its instance, and what each must save that there will be more than before, USD per hour: it has
 * a volume, addresses, daemons and an owner who looks after it.
 */
export const EXTRA_NODE = 0.02;

/** Prices closer than this are equal (USD per hour). */
export const SAME_PRICE = 1e-9;
