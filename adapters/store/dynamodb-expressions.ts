import type { Condition, Test, Update } from "./table.ts";

/** The expressions of one request, with their names and values. */
interface Expressions {
  readonly ConditionExpression?: string;
  readonly UpdateExpression?: string;
  readonly ExpressionAttributeNames?: Record<string, string>;
  readonly values: Readonly<Record<string, unknown>>;
}

/** A condition and an update as DynamoDB writes them: each name as `#name`, each value as `:name`. */
export function expressions(condition: Condition | undefined, update: Update = {}): Expressions {
  const names = new Map<string, string>();
  const values = new Map<string, unknown>();
  const name = (attribute: string): string => {
    // A number stands for an attribute that no placeholder can be made of.
    const known = names.get(attribute) ?? `#${/^\w+$/.test(attribute) ? attribute : `_${names.size}`}`;
    names.set(attribute, known);
    return known;
  };
  const value = (called: string, content: unknown): string => {
    const plain = `:${called}`;
    const free = !values.has(plain) || values.get(plain) === content ? plain : `${plain}_${values.size}`;
    values.set(free, content);
    return free;
  };
  const compared = (attribute: string, operator: string, content: unknown): string => {
    const known = name(attribute);
    return `${known} ${operator}${value(known.slice(1), content)}`;
  };
  const test = (one: Test): string => {
    if ("absent" in one) return `attribute_not_exists(${name(one.absent)})`;
    if ("notNumber" in one) return `NOT attribute_type(${name(one.notNumber)}, ${value("number", "N")})`;
    if ("equals" in one) return compared(one.attribute, "= ", one.equals);
    return "atMost" in one ? compared(one.attribute, "<= ", one.atMost) : compared(one.attribute, "< ", one.below);
  };
  const all = (condition: Condition): string => {
    if ("anyOf" in condition) return condition.anyOf.map(test).join(" OR ");
    return "allOf" in condition ? condition.allOf.map(test).join(" AND ") : test(condition);
  };
  const changes = ({ set = {}, setIfAbsent = {}, add = {}, remove = [] }: Update): string => {
    const sets = Object.entries(set).map(([attribute, content]) => compared(attribute, "= ", content));
    const firsts = Object.entries(setIfAbsent).map(([attribute, content]) => {
      const known = name(attribute);
      return `${known} = if_not_exists(${known}, ${value(known.slice(1), content)})`;
    });
    const adds = Object.entries(add).map(([attribute, content]) => compared(attribute, "", content));
    const clauses: readonly (readonly [string, readonly string[]])[] = [
      ["SET", [...sets, ...firsts]],
      ["ADD", adds],
      ["REMOVE", remove.map(name)],
    ];
    return clauses.flatMap(([verb, parts]) => (parts.length > 0 ? [`${verb} ${parts.join(", ")}`] : [])).join(" ");
  };
  const ConditionExpression = condition && all(condition);
  const UpdateExpression = changes(update);
  return {
    ...(ConditionExpression !== undefined && { ConditionExpression }),
    ...(UpdateExpression !== "" && { UpdateExpression }),
    ...(names.size > 0 && { ExpressionAttributeNames: Object.fromEntries([...names].map(([attribute, known]) => [known, attribute])) }),
    values: Object.fromEntries(values),
  };
}
