// Prices and price tolerances that bin packing and consolidation share, all in USD per hour.
// Prices of instances come from offerings (instance-type.ts), prices of nodes from core/disruption/prices.

/**
 * The root volume of a node, USD per hour: 20 GiB of gp3 at $0.08 a GiB-month. Bin packing adds it to the price of each
 * new node, because otherwise two small nodes would rank equal to one large node at the same price.
 */
export const NODE_VOLUME_PRICE = 0.0022;

/**
 * What each node more than before must save in consolidation, USD per hour, and what consolidation adds to the price of
 * each new node: a node has a volume, addresses and DaemonSet pods, and an operator looks after it. It keeps
 * consolidation from replacing one large node by several small ones to save a cent. No benchmark has tuned it.
 */
export const EXTRA_NODE_PRICE = 0.02;

/** Two prices that differ by less than this are equal (USD per hour): sums of floats differ in their last digits. */
export const PRICE_TOLERANCE = 1e-9;

/**
 * Savings below this count as none (USD per hour): AWS states prices to a hundredth of a cent or finer. Without it,
 * nodes of one price could replace each other for ever, because sums of floats differ in their last digits.
 */
export const MIN_SAVINGS = 1e-6;
