/** A column by which rows can be searched and sorted. */
export interface Field<Row> {
  readonly key: string;
  readonly value: (row: Row) => string | number;
}

type Test<Row> = (row: Row) => boolean;

/**
 * Rows that hold all words of a search. A word is looked for in every text; "pool:gpu" in one field; "cpu>80" and
 * "price<0.1" compare numbers; "-spot" leaves out what holds the word. A field that does not exist is an ordinary word.
 *
 *     search(nodes, FIELDS, "spot cpu<30 -zone:us-west-2a");
 */
export function search<Row>(rows: readonly Row[], fields: readonly Field<Row>[], query: string): readonly Row[] {
  const tests = query.split(/\s+/).flatMap((word) => (word === "" ? [] : [testOf(word, fields)]));
  return tests.length === 0 ? rows : rows.filter((row) => tests.every((test) => test(row)));
}

function testOf<Row>(word: string, fields: readonly Field<Row>[]): Test<Row> {
  if (word.startsWith("-") && word.length > 1) {
    const inner = testOf(word.slice(1), fields);
    return (row) => !inner(row);
  }
  const [, key = "", operator = "", value = ""] = /^([a-z]+)([:<>])(.+)$/i.exec(word) ?? [];
  const field = fields.find((one) => one.key === key.toLowerCase());
  if (field !== undefined && operator === ":") return (row) => has(field.value(row), value);
  const number = Number(value);
  if (field !== undefined && operator !== "" && Number.isFinite(number))
    return (row) => (operator === "<" ? Number(field.value(row)) < number : Number(field.value(row)) > number);
  return (row) => fields.some((one) => typeof one.value(row) === "string" && has(one.value(row), word));
}

const has = (text: string | number, part: string): boolean => String(text).toLowerCase().includes(part.toLowerCase());

/** Rows in the order of a field; "-price" is the order from the most expensive down. Equal rows keep their order. */
export function sorted<Row>(rows: readonly Row[], fields: readonly Field<Row>[], order: string): readonly Row[] {
  const isDown = order.startsWith("-");
  const field = fields.find(({ key }) => key === (isDown ? order.slice(1) : order));
  if (field === undefined) return rows;
  const sign = isDown ? -1 : 1;
  return [...rows].sort((a, b) => sign * compare(field.value(a), field.value(b)));
}

const words = new Intl.Collator("en", { numeric: true });

function compare(a: string | number, b: string | number): number {
  return typeof a === "number" && typeof b === "number" ? a - b : words.compare(String(a), String(b));
}
