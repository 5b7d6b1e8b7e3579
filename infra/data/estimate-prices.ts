/** USD per hour by instance type. */
type Prices = Readonly<Record<string, number>>;

/**
 * The on-demand prices of a region without a table of its own. A type with a known price keeps its ratio to us-east-1.
 * A new one has the ratio of its family, else the median ratio of its category (the letters before the generation).
 * `types` are those that the region offers; one without a price in us-east-1 keeps what is known.
 */
export function regionalPrices(
  known: Prices,
  usEast1: { readonly before: Prices; readonly after: Prices },
  types: readonly string[],
): Record<string, number> {
  const ratios = new Map<string, number>();
  for (const [name, price] of Object.entries(known)) {
    const base = usEast1.before[name];
    if (base !== undefined) ratios.set(name, price / base);
  }
  const prices: Record<string, number> = {};
  for (const name of [...types].sort()) {
    const base = usEast1.after[name];
    const before = known[name];
    if (before !== undefined && (base === undefined || base === usEast1.before[name])) prices[name] = before;
    else if (base !== undefined) {
      const ratio = ratios.get(name) ?? medianOf(ratios, familyOf, name) ?? medianOf(ratios, categoryOf, name) ?? 1;
      prices[name] = Math.round(base * ratio * 1e6) / 1e6;
    }
  }
  return prices;
}

function medianOf(ratios: ReadonlyMap<string, number>, group: (name: string) => string, name: string): number | undefined {
  const alike = [...ratios].filter(([other]) => group(other) === group(name)).map(([, ratio]) => ratio);
  return alike.sort((a, b) => a - b)[Math.floor(alike.length / 2)];
}

const familyOf = (name: string): string => name.slice(0, name.indexOf("."));
const categoryOf = (name: string): string => /^[a-z]+/.exec(name)?.[0] ?? name;
