import type { TypeLimits } from "#core/offerings/catalogue.ts";

/*
 * Facts in the generated Go tables of karpenter-provider-aws, which state what no EC2 call does.
 */

/**
 * The limits of each instance type in the texts of the tables of limits and of bandwidth. Only trunking types have
 * branch interfaces. Throws when a table has no row.
 * (karpenter-provider-aws: pkg/providers/instancetype/zz_generated.vpclimits.go, Limits)
 * (karpenter-provider-aws: pkg/providers/instancetype/zz_generated.bandwidth.go, InstanceTypeBandwidthMegabits)
 */
export function limitsIn(vpcLimits: string, bandwidth: string): Record<string, TypeLimits> {
  const rows = new Map<string, TypeLimits>();
  // A row ends where the next one begins: its own fields stand before the first network card.
  for (const row of vpcLimits.split(/^\t(?="[a-z0-9.-]+": +(?:&VPCLimits)?\{)/m).slice(1)) {
    const name = /^"([^"]+)"/.exec(row)?.[1] ?? "";
    const podEni = /IsTrunkingCompatible: +true/.test(row) ? field(row, "BranchInterface") : 0;
    const ipv4PerEni = field(row, "IPv4PerInterface");
    rows.set(name, { ...(podEni && { podEni }), ...(ipv4PerEni && { ipv4PerEni }) });
  }
  const megabits = [...bandwidth.matchAll(/^\t\t"([a-z0-9.-]+)": +(\d+)/gm)];
  if (rows.size === 0 || megabits.length === 0) throw new Error("the provider's tables of limits have another form: see limitsIn");
  for (const [, name = "", mbps] of megabits) rows.set(name, { ...rows.get(name), networkMbps: Number(mbps) });
  return sorted(rows);
}

/**
 * USD per hour by instance type for a region, in the text of the table of prices. Throws when the region has no price.
 * (karpenter-provider-aws: pkg/providers/pricing/zz_generated.pricing_aws.go, InitialOnDemandPricesAWS)
 */
export function pricesIn(table: string, region: string): Record<string, number> {
  const block = table.slice(table.indexOf(`"${region}": {`)).split(/^\t\},/m)[0] ?? "";
  const prices = [...block.matchAll(/"([a-z0-9-]+\.[a-z0-9-]+)": ([\d.]+)/g)].map(([, name = "", price]) => [name, Number(price)] as const);
  if (prices.length === 0) throw new Error(`the provider's table of prices has no region ${region}: see pricesIn`);
  return sorted(prices);
}

/** The settings in the text that declares options: names of environment variables. */
export function settingsIn(options: string): string[] {
  const names = [...options.matchAll(/(?:WithDefault\w+\(|WithEnv\([^"\n]*"[^"]*", )"([A-Z0-9_]+)"/g)].map(([, name = ""]) => name);
  return [...new Set(names)].sort();
}

/** The feature gates in the text that declares options: the exported fields of its gates. */
export function gatesIn(options: string): string[] {
  const gates = [...options.matchAll(/FeatureGates struct \{([^}]*)\}/g)].map(([, body = ""]) => body).join("\n");
  return [...new Set([...gates.matchAll(/^\s*([A-Z]\w+)\s+\w+/gm)].map(([, name = ""]) => name))].sort();
}

function field(row: string, name: string): number {
  return Number(new RegExp(`\\b${name}: +(\\d+)`).exec(row)?.[1] ?? 0);
}

function sorted<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}
