import type { Filter } from "@aws-sdk/client-ec2";
import { AwsError } from "../errors.ts";
import type { Tags } from "../world.ts";

/** The values of a record for each filter name. */
export type Facets<T> = Readonly<Record<string, (record: T) => string | undefined | readonly (string | undefined)[]>>;

const MAX_FILTER_VALUES = 200;

/** EC2's wildcards: `*` for any characters, `?` for one character, a backslash before a literal `*` or `?`. */
export function wildcard(pattern: string): (value: string) => boolean {
  if (!/[*?\\]/.test(pattern)) return (value) => value === pattern;
  const source = pattern.replace(/\\([*?\\])|[.+^${}()|[\]\\]|\*|\?/g, (match, literal?: string) => {
    if (literal !== undefined) return `\\${literal}`;
    if (match === "*") return ".*";
    return match === "?" ? "." : `\\${match}`;
  });
  const expression = new RegExp(`^${source}$`, "s");
  return (value) => expression.test(value);
}

/** The records that match some value of every filter. As in EC2, an unknown filter name is refused. */
export function select<T extends { readonly tags?: Tags }>(
  records: Iterable<T>,
  filters: readonly Filter[] | undefined,
  facets: Facets<T>,
): T[] {
  const values = (filters ?? []).reduce((sum, { Values = [] }) => sum + Values.length, 0);
  if (values > MAX_FILTER_VALUES) {
    throw new AwsError("FilterLimitExceeded", `The maximum number of filter values specified on a single call is ${MAX_FILTER_VALUES}`);
  }
  const tests = (filters ?? []).map(({ Name = "", Values = [] }) => {
    const wanted = Values.map(wildcard);
    const valuesOf = facetOf(Name, facets);
    return (record: T) => valuesOf(record).some((value) => value !== undefined && wanted.some((fits) => fits(value)));
  });
  return [...records].filter((record) => tests.every((test) => test(record)));
}

function facetOf<T extends { readonly tags?: Tags }>(name: string, facets: Facets<T>): (record: T) => readonly (string | undefined)[] {
  if (name.startsWith("tag:")) return ({ tags }) => [tags?.get(name.slice(4))];
  if (name === "tag-key") return ({ tags }) => [...(tags?.keys() ?? [])];
  if (name === "tag-value") return ({ tags }) => [...(tags?.values() ?? [])];
  const facet = facets[name];
  if (!facet) throw new AwsError("InvalidParameterValue", `The filter '${name}' is invalid`);
  return (record) => [facet(record)].flat();
}

export type PageRequest = { readonly MaxResults?: number | undefined; readonly NextToken?: string | undefined };

/**
 * One page and the token of the next. `limits` are the API's smallest and greatest MaxResults; `whole` is its page size
 * when none is given.
 */
export function page<T>(
  items: readonly T[],
  { MaxResults, NextToken }: PageRequest,
  limits: { readonly min: number; readonly max: number; readonly whole?: number },
): { readonly items: readonly T[]; readonly next?: string } {
  if (MaxResults !== undefined && (MaxResults < limits.min || MaxResults > limits.max)) {
    throw new AwsError(
      "InvalidParameterValue",
      `Value ( ${MaxResults} ) for parameter maxResults is invalid. Expecting a value between ${limits.min} and ${limits.max}.`,
    );
  }
  const start = NextToken ? Number(Buffer.from(NextToken, "base64").toString().slice("from:".length)) : 0;
  if (!Number.isInteger(start)) throw new AwsError("InvalidParameterValue", `Invalid value '${NextToken}' for nextToken.`);
  const end = start + (MaxResults ?? limits.whole ?? Number.POSITIVE_INFINITY);
  const next = end < items.length ? { next: Buffer.from(`from:${end}`).toString("base64") } : {};
  return { items: items.slice(start, end), ...next };
}
