import assert from "node:assert/strict";
import { type Condition, type Table, type TableItem, TransactionConflictError } from "#adapters/store/table.ts";
import { type ContractCase, casesOnTables } from "./contract.ts";

const KEY = { pk: "p", sk: "a" };

/** Opens an empty table for one case. */
export type OpenTable = () => Promise<{ readonly store: Table; readonly close: () => Promise<void> }>;

/** Whether a condition is met by an item, or by none. */
async function isMet(table: Table, item: Readonly<Record<string, unknown>> | undefined, condition: Condition): Promise<boolean> {
  if (item === undefined) await table.write({ delete: KEY });
  else await table.write({ put: { ...KEY, ...item } });
  return (await table.write({ put: { ...KEY, done: 1 }, if: condition })).isWritten;
}

/** All items of a query, page by page. */
async function allOf(table: Table, prefix: string): Promise<readonly TableItem[]> {
  const items: TableItem[] = [];
  let after: unknown;
  do {
    const page = await table.query({ pk: "p", prefix, isConsistent: true }, after);
    items.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return items;
}

const CASES: Readonly<Record<string, (table: Table) => Promise<void>>> = {
  "an attribute that is absent passes no comparison": async (table) => {
    const tests: readonly Condition[] = [
      { attribute: "n", equals: 1 },
      { attribute: "n", atMost: 1 },
      { attribute: "n", below: 1 },
    ];
    for (const test of tests) for (const item of [undefined, { m: 1 }]) assert.equal(await isMet(table, item, test), false);
  },
  "numbers are compared": async (table) => {
    assert.equal(await isMet(table, { n: 1 }, { attribute: "n", equals: 1 }), true);
    assert.equal(await isMet(table, { n: 1 }, { attribute: "n", equals: "1" }), false);
    assert.equal(await isMet(table, { n: 1 }, { attribute: "n", atMost: 1 }), true);
    assert.equal(await isMet(table, { n: 1 }, { attribute: "n", below: 1 }), false);
    assert.equal(await isMet(table, { n: 2 }, { attribute: "n", atMost: 1 }), false);
    assert.equal(await isMet(table, { n: "1" }, { attribute: "n", atMost: 1 }), false);
  },
  "an attribute is absent, or no number": async (table) => {
    assert.equal(await isMet(table, undefined, { absent: "n" }), true);
    assert.equal(await isMet(table, { n: 1 }, { absent: "n" }), false);
    assert.equal(await isMet(table, undefined, { notNumber: "n" }), true);
    assert.equal(await isMet(table, { n: "x" }, { notNumber: "n" }), true);
    assert.equal(await isMet(table, { n: 1 }, { notNumber: "n" }), false);
  },
  "one test is enough of any, and all are needed of all": async (table) => {
    const tests = [{ absent: "n" }, { attribute: "m", equals: "x" }];
    assert.equal(await isMet(table, { n: 1, m: "x" }, { anyOf: tests }), true);
    assert.equal(await isMet(table, { n: 1, m: "y" }, { anyOf: tests }), false);
    assert.equal(await isMet(table, { m: "x" }, { allOf: tests }), true);
    assert.equal(await isMet(table, { n: 1, m: "x" }, { allOf: tests }), false);
  },
  "a refused write returns the item in the way, and changes nothing": async (table) => {
    await table.write({ put: { ...KEY, n: 1 } });
    const refused = { isWritten: false, item: { ...KEY, n: 1 } };
    assert.deepEqual(await table.write({ put: { ...KEY, n: 2 }, if: { absent: "pk" } }), refused);
    assert.deepEqual(await table.write({ delete: KEY, if: { attribute: "n", equals: 2 } }), refused);
    assert.deepEqual(await table.write({ update: KEY, by: { set: { n: 3 } }, if: { absent: "n" } }), refused);
    assert.deepEqual(await table.get(KEY), { ...KEY, n: 1 });
  },
  "an update sets, sets once, adds and removes, and makes the item": async (table) => {
    const by = { set: { holder: "h", "odd name|x": 1 }, setIfAbsent: { first: 1 }, add: { n: 2, members: new Set(["a"]) } };
    const made = { ...KEY, holder: "h", "odd name|x": 1, first: 1, n: 2, members: new Set(["a"]) };
    assert.deepEqual((await table.write({ update: KEY, by }, { returns: "new" })).item, made);
    const again = { setIfAbsent: { first: 9 }, add: { n: 2, members: new Set(["b"]) }, remove: ["holder"] };
    const { holder: _, ...rest } = { ...made, n: 4, members: new Set(["a", "b"]) };
    assert.deepEqual((await table.write({ update: KEY, by: again }, { returns: "new" })).item, rest);
  },
  "a condition and an update may name the same attribute": async (table) => {
    await table.write({ put: { ...KEY, n: 5 } });
    const write = { update: KEY, by: { set: { n: 9 } }, if: { attribute: "n", atMost: 5 } };
    assert.deepEqual(await table.write(write, { returns: "new" }), { isWritten: true, item: { ...KEY, n: 9 } });
    assert.equal((await table.write(write)).isWritten, false);
  },
  "a put returns the former item when it is asked to": async (table) => {
    assert.equal((await table.write({ put: { ...KEY, n: 1 } }, { returns: "old" })).item, undefined);
    assert.deepEqual((await table.write({ put: { ...KEY, n: 2 } }, { returns: "old" })).item, { ...KEY, n: 1 });
  },
  "a transaction writes all or nothing, and says what was in the way of each write": async (table) => {
    await table.write({ put: { ...KEY, n: 1 } });
    const b = { put: { pk: "p", sk: "b" } };
    const refusals = await table.transact([b, { put: { ...KEY, n: 2 }, if: { absent: "pk" } }]);
    assert.deepEqual(refusals, [undefined, { item: { ...KEY, n: 1 } }]);
    assert.equal(await table.get(b.put), undefined);
    const checked = await table.transact([{ check: KEY, if: { attribute: "n", equals: 2 } }, b]);
    assert.equal(checked?.[0]?.item, undefined);
    assert.equal(await table.transact([{ check: KEY, if: { attribute: "n", equals: 1 } }, b]), undefined);
    assert.deepEqual(await table.get(b.put), b.put);
  },
  "of two transactions of one item at once, each is done, refused, or told to try again": async (table) => {
    const ends = await Promise.allSettled(
      [1, 2, 3].map((n) => table.transact([{ put: { ...KEY, n }, if: { absent: "pk" } }, { put: { pk: "p", sk: `b${n}` } }])),
    );
    const done = ends.filter((end) => end.status === "fulfilled" && end.value === undefined);
    assert.equal(done.length, 1);
    for (const end of ends) if (end.status === "rejected") assert.ok(end.reason instanceof TransactionConflictError, String(end.reason));
    assert.equal((await allOf(table, "b")).length, 1);
  },
  "a query gives the items of a prefix in the order of their keys": async (table) => {
    const sks = ["b#2", "a#1", "b#10", "b", "c#1", "b#1"];
    assert.deepEqual(await table.batchWrite(sks.map((sk) => ({ put: { pk: "p", sk } }))), []);
    await table.write({ put: { pk: "p2", sk: "b#1" } });
    assert.deepEqual(
      (await allOf(table, "b#")).map(({ sk }) => sk),
      ["b#1", "b#10", "b#2"],
    );
    await table.batchWrite([{ delete: { pk: "p", sk: "b#10" } }, { delete: { pk: "p", sk: "never" } }]);
    assert.equal((await allOf(table, "")).length, 5);
  },
  "what is packed comes back, and attributes that are undefined are left out": async (table) => {
    const value = { a: ["ü", 1.5, null], b: { c: "" } };
    await table.write({ put: { ...KEY, record: table.pack(value), bytes: new Uint8Array([1, 0, 255]), none: undefined } });
    const { record, bytes, ...rest }: TableItem = (await table.get(KEY)) ?? KEY;
    assert.deepEqual(table.unpack(record), value);
    assert.deepEqual([...(bytes as Uint8Array)], [1, 0, 255]);
    assert.deepEqual(rest, KEY);
    assert.throws(() => table.unpack(bytes));
  },
  "a batch of reads leaves out what is not there": async (table) => {
    await table.write({ put: KEY });
    assert.deepEqual(await table.batchGet([KEY, { pk: "p", sk: "none" }]), { items: [KEY], unprocessed: [] });
  },
};

/** The rules of the port Table (adapters/store/table.ts), which DynamoDB and the embedded table both keep. */
export const tableContract = (name: string, open: OpenTable): readonly ContractCase[] => casesOnTables(`table, ${name}`, CASES, open);
