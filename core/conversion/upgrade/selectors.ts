import { isJsonObject, type Json, type JsonObject } from "../../lib/json.ts";

/** The selector terms for a v1alpha1 selector, and what they do not cover. */
interface Terms {
  readonly terms: readonly JsonObject[];
  /** Sentences without the name of the field. */
  readonly problems: readonly string[];
}

const KEYS: Readonly<Record<string, "id" | "name" | "owner">> = {
  "aws-ids": "id",
  "aws::ids": "id",
  "aws::name": "name",
  "aws::owners": "owner",
};

/**
 * A v1alpha1 selector (a map) as a list of terms. All keys must match, and commas in a value mean "or", so each
 * combination of values gives one term: owners outermost, tags by key innermost. Ids never combined with other keys,
 * and v1 refuses a term with both, so ids are kept alone.
 */
export function selectorTerms(selector: Json): Terms {
  if (!isJsonObject(selector)) return { terms: [], problems: ["is no map of tags to values"] };
  const fields: Record<"id" | "name" | "owner", string[]> = { id: [], name: [], owner: [] };
  const tags: [string, readonly string[]][] = [];
  for (const [key, value] of Object.entries(selector)) {
    const values = choices(String(value));
    const field = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined;
    if (field === undefined) tags.push([key, values]);
    else fields[field].push(...values);
  }
  if (fields.id.length > 0) {
    const isAlone = tags.length === 0 && fields.name.length === 0 && fields.owner.length === 0;
    const mixed = "has ids beside tags, a name or owners, which no version accepts; only the ids were kept";
    return { terms: fields.id.map((id) => ({ id })), problems: isAlone ? [] : [mixed] };
  }
  const tagMaps = tags
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .reduce<readonly JsonObject[]>((maps, [key, values]) => maps.flatMap((map) => values.map((value) => ({ ...map, [key]: value }))), [{}]);
  const terms = orNone(fields.owner).flatMap((owner) =>
    orNone(fields.name).flatMap((name) =>
      tagMaps.map((map) => ({
        ...(Object.keys(map).length > 0 && { tags: map }),
        ...(name !== undefined && { name }),
        ...(owner !== undefined && { owner }),
      })),
    ),
  );
  const isTooMany = terms.length > 30;
  const many = `means ${terms.length} terms and v1 takes 30; give what is selected one tag of its own and select by that`;
  return { terms: terms.filter((term) => Object.keys(term).length > 0), problems: isTooMany ? [many] : [] };
}

const choices = (value: string): readonly string[] =>
  value
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

const orNone = (values: readonly string[]): readonly (string | undefined)[] => (values.length > 0 ? values : [undefined]);
