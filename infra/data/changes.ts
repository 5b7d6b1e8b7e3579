import { unknownBurstables } from "#core/offerings/burstable.ts";
import type { Catalogue, TypeLimits } from "#core/offerings/catalogue.ts";

/** All that is bundled about EC2. */
export interface Bundle {
  readonly limits: Readonly<Record<string, TypeLimits>>;
  readonly catalogues: readonly Catalogue[];
}

/** What a release of Karpenter gives its users. */
export interface Release {
  /** By the name of a CRD's file: lines of crdFields. */
  readonly fields: Readonly<Record<string, ReadonlySet<string>>>;
  readonly settings: readonly string[];
  readonly gates: readonly string[];
}

/**
 * What the new data change for users, as lines of Markdown: limits, types and prices by region, and burstable families
 * without a known baseline. `named` are the types that EC2's API model names.
 */
export function dataChanges(before: Bundle, after: Bundle, named: readonly string[]): string[] {
  const lines = ["## Limits by instance type"];
  lines.push(...changedRows(before.limits, after.limits));
  for (const catalogue of after.catalogues) {
    const old = before.catalogues.find(({ region }) => region === catalogue.region);
    lines.push("", `## ${catalogue.region}: ${catalogue.types.length} types, ${Object.keys(catalogue.onDemand).length} with a price`);
    lines.push(...changedRows(byName(old?.types ?? []), byName(catalogue.types), "type "));
    lines.push(...changedRows(old?.onDemand ?? {}, catalogue.onDemand, "price "));
  }
  const types = after.catalogues.flatMap((catalogue) => catalogue.types);
  const known = new Set(types.map(({ name }) => name));
  lines.push("", "## Not known");
  lines.push(`- baselines of burstable families (core/offerings/burstable.ts): ${listed(unknownBurstables(types))}`);
  lines.push(
    `- types without a row of limits: ${grouped(types.map(({ name }) => name).filter((name) => after.limits[name]?.ipv4PerEni === undefined))}`,
  );
  lines.push(`- types that EC2's API model names and no bundled region offers: ${grouped(named.filter((name) => !known.has(name)))}`);
  return lines;
}

/** What a new release takes and gives, as lines of Markdown; `ours` are the fields of the project's own CRDs. */
export function releaseChanges(before: Release, after: Release, ours: Release["fields"]): string[] {
  const lines: string[] = [];
  for (const [file, fields] of Object.entries(after.fields)) {
    const old = before.fields[file] ?? new Set();
    const own = ours[file] ?? new Set();
    const added = [...fields].filter((line) => !old.has(line));
    const removed = [...old].filter((line) => !fields.has(line));
    lines.push("", `## ${file}`);
    for (const line of added) lines.push(`- new: \`${line}\`${own.has(line) ? "" : " (not in infra/crds)"}`);
    for (const line of removed) lines.push(`- gone: \`${line}\`${own.has(line) ? " (still in infra/crds)" : ""}`);
    if (added.length + removed.length === 0) lines.push("- no change");
  }
  lines.push(
    "",
    "## Settings",
    `- new: ${listed(without(after.settings, before.settings))}`,
    `- gone: ${listed(without(before.settings, after.settings))}`,
  );
  lines.push(
    "",
    "## Feature gates",
    `- new: ${listed(without(after.gates, before.gates))}`,
    `- gone: ${listed(without(before.gates, after.gates))}`,
  );
  return lines;
}

function changedRows(before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>, what = ""): string[] {
  const isEqual = (name: string) => JSON.stringify(before[name]) === JSON.stringify(after[name]);
  const changed = Object.keys(after).filter((name) => Object.hasOwn(before, name) && !isEqual(name));
  const rows = [
    [`${what}new`, without(Object.keys(after), Object.keys(before))],
    [`${what}gone`, without(Object.keys(before), Object.keys(after))],
    [`${what}changed`, changed],
  ] as const;
  return rows.map(([title, names]) => `- ${title}: ${names.length === 0 ? "none" : `${names.length}: ${grouped(names)}`}`);
}

/** Types by family: "c9g (11), t8i (3)". */
function grouped(names: readonly string[]): string {
  const families = new Map<string, number>();
  for (const name of new Set(names)) {
    const family = name.split(".")[0] ?? name;
    families.set(family, (families.get(family) ?? 0) + 1);
  }
  return listed([...families].sort().map(([family, count]) => `${family} (${count})`));
}

function byName(types: Catalogue["types"]): Record<string, unknown> {
  return Object.fromEntries(types.map((type) => [type.name, type]));
}

const without = (names: readonly string[], others: readonly string[]): string[] => names.filter((name) => !others.includes(name));
const listed = (names: readonly string[]): string => (names.length === 0 ? "none" : names.join(", "));
