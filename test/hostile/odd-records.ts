import { gunzipSync, gzipSync } from "node:zlib";
import { nodeClaimStore } from "#adapters/store/node-claim-store.ts";
import type { Table } from "#adapters/store/table.ts";
import { embeddedTable } from "#adapters/store/table-embedded.ts";
import { type Json, parseJson } from "#core/lib/json.ts";
import { claimRecordProblem } from "#core/model/read-record.ts";
import { createLab, type Lab } from "#lab/host.ts";
import { hash, type Random, seeded } from "#lab/world/random.ts";
import { NODE_CLASS } from "../simulation/story.ts";
import { INFLATE, MINUTE, OPTIONS, POOL, pass, podsOf, SECOND, scale, start } from "../support/lab-story.ts";
import { FAILURE, failureText } from "./course.ts";
import { mutatedJson, ODD_TEXTS } from "./mutate.ts";

/**
 * Odd records of the table: whatever an older or newer version wrote, or a user edited, hurts only the NodeClaim or
 * command that it is about.
 * In: a seed. Out: what a cluster did wrong with one row of its table changed at odd places. The cluster is at a drawn
 * point of its growth, or of the consolidation after it; the row is the record of a NodeClaim, a command, or a
 * document.
 */

/** How long new pods may wait: a machine boots within a minute, and a displaced pod may wait for a second one. */
const BOUND_MS = 5 * MINUTE;
/**
 * A record that can be read may say of a machine what is not true: then its pods wait as for a machine that never
 * joins, which the registration time-out of 15 minutes ends.
 */
const LYING_BOUND_MS = 20 * MINUTE;

interface Row {
  readonly kind: "claim" | "command" | "document";
  readonly key: string;
  readonly body: string;
  /** Replaces the body. */
  readonly change: (body: string) => Promise<unknown>;
}

/** What one seed did wrong; undefined when it did nothing wrong. */
export async function wrongWithOddRecord(seed: number): Promise<string | undefined> {
  const random = seeded(hash(`seed ${seed}`)).fork("records");
  const table = embeddedTable();
  const store = nodeClaimStore(table);
  const documents = new Set<string>();
  const putDocument: typeof store.putDocument = (name, ...rest) => {
    documents.add(name);
    return store.putDocument(name, ...rest);
  };
  const seen = { ...store, putDocument, close: table.close };
  const lab = createLab({ ...OPTIONS, seed: 1 + 2 * random.between(0, 3), store: seen });
  try {
    await start(lab, [NODE_CLASS, POOL, INFLATE]);
    scale(lab, 6);
    await pass(lab, random.between(1, 40) * SECOND);
    if (random.next() < 0.7) {
      await pass(lab, 2 * MINUTE);
      scale(lab, 2);
      await pass(lab, random.between(5, 90) * SECOND);
    }
    const changed = await changeRow(await rowsOf(table, lab.world.cluster, documents), random);
    if (changed === undefined) return undefined;
    await pass(lab, 2 * MINUTE);
    const before = podsOf(lab).length;
    scale(lab, before + 4);
    await pass(lab, BOUND_MS);
    if (changed.isReadable && waitingIn(lab) > 0) await pass(lab, LYING_BOUND_MS - BOUND_MS);
    const thrown = lab.log.filter(({ level, message }) => level === "error" && FAILURE.test(message));
    const problems = [...new Set(thrown.map(({ message, fields }) => `${message} ${failureText(fields)}`))];
    const waiting = waitingIn(lab);
    if (waiting > 0) problems.push(`${waiting} pods wait`);
    return problems.length === 0 ? undefined : `${changed.what}: ${problems.slice(0, 3).join("; ")}`;
  } catch (error) {
    return `the lab threw ${(error as Error).stack}`;
  } finally {
    lab.close();
  }
}

const waitingIn = (lab: Lab): number => podsOf(lab).filter(({ status }) => status?.phase !== "Running").length;

/** Changes one row; returns what was changed, and whether the record can be read all the same. */
async function changeRow(
  rows: readonly Row[],
  random: Random,
): Promise<{ readonly what: string; readonly isReadable: boolean } | undefined> {
  const kinds = [...new Set(rows.map((row) => row.kind))];
  if (kinds.length === 0) return undefined;
  const kind = random.pick(kinds as [Row["kind"], ...Row["kind"][]]);
  const row = random.pick(rows.filter((one) => one.kind === kind) as [Row, ...Row[]]);
  const body = oddBody(row.body, random);
  await row.change(body);
  const what = `${row.kind} ${row.key} ${difference(row.body, body)}`;
  return { what, isReadable: row.kind === "claim" && claimRecordProblem(parseJson(body)) === undefined };
}

async function rowsOf(table: Table, cluster: string, documents: ReadonlySet<string>): Promise<readonly Row[]> {
  const records = async (kind: "claim" | "command"): Promise<readonly Row[]> => {
    const { items } = await table.query({ pk: `cluster#${cluster}`, prefix: `${kind}#`, isConsistent: true });
    return items.map((item) => ({
      kind,
      key: item.sk.slice(kind.length + 1),
      body: (item["record"] as { readonly json: string }).json,
      change: (json) => table.write({ put: { ...item, record: { json } } }),
    }));
  };
  // The catalogue is compressed, and read by no function of the lab.
  const names = [...documents].filter((name) => !name.startsWith("catalog")).sort();
  const heads = await Promise.all(names.map((name) => table.get({ pk: `document#${name}`, sk: "head" })));
  const small = heads.flatMap((head): readonly Row[] => {
    if (head?.["bytes"] === undefined) return [];
    const key = head.pk.slice("document#".length);
    const change = (body: string) => table.write({ put: { ...head, bytes: gzipSync(body) } });
    return [{ kind: "document", key, body: gunzipSync(head["bytes"] as Uint8Array).toString(), change }];
  });
  return [...(await records("claim")), ...(await records("command")), ...small];
}

function oddBody(body: string, random: Random): string {
  const value = parseJson(body);
  if (value === undefined || random.next() < 0.05) return random.pick(ODD_TEXTS);
  return JSON.stringify(mutatedJson(value, random));
}

/** The places that differ, as JSON paths with what they hold now. */
function difference(before: string, after: string): string {
  const places: string[] = [];
  const compare = (a: Json | undefined, b: Json | undefined, path: string): void => {
    if (JSON.stringify(a) === JSON.stringify(b)) return;
    const isMap = (one: unknown): one is Readonly<Record<string, Json>> => typeof one === "object" && one !== null;
    if (isMap(a) && isMap(b) && Array.isArray(a) === Array.isArray(b)) {
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
        compare(Object.hasOwn(a, key) ? a[key] : undefined, Object.hasOwn(b, key) ? b[key] : undefined, `${path}.${key.slice(0, 40)}`);
      }
    } else places.push(`${path} = ${b === undefined ? "absent" : JSON.stringify(b).slice(0, 60)}`);
  };
  compare(parseJson(before), parseJson(after), "");
  return places.slice(0, 4).join(", ");
}
