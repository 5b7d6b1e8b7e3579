import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sqliteNodeClaimStore } from "#adapters/store/sqlite-store.ts";
import { type Json, parseJson } from "#core/lib/json.ts";
import { claimRecordProblem } from "#core/model/read-record.ts";
import { createLab, type Lab } from "#lab/host.ts";
import { hash, type Random, seeded } from "#lab/world/random.ts";
import { NODE_CLASS } from "../simulation/story.ts";
import { INFLATE, MINUTE, OPTIONS, POOL, pass, podsOf, SECOND, scale, start } from "../support/lab-story.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
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
  readonly table: "claim" | "command" | "document";
  readonly key: string;
  readonly body: string;
}

/** What one seed did wrong; undefined when it did nothing wrong. */
export async function wrongWithOddRecord(seed: number): Promise<string | undefined> {
  const random = seeded(hash(`seed ${seed}`)).fork("records");
  const folder = temporaryFolder("odd-records");
  const path = join(folder, "table.sqlite");
  const lab = createLab({ ...OPTIONS, seed: 1 + 2 * random.between(0, 3), store: sqliteNodeClaimStore(path) });
  const table = new DatabaseSync(path, { timeout: 5_000 });
  try {
    await start(lab, [NODE_CLASS, POOL, INFLATE]);
    scale(lab, 6);
    await pass(lab, random.between(1, 40) * SECOND);
    if (random.next() < 0.7) {
      await pass(lab, 2 * MINUTE);
      scale(lab, 2);
      await pass(lab, random.between(5, 90) * SECOND);
    }
    const changed = changeRow(table, random);
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
    table.close();
    lab.close();
    rmSync(folder, { recursive: true });
  }
}

const waitingIn = (lab: Lab): number => podsOf(lab).filter(({ status }) => status?.phase !== "Running").length;

/** Changes one row; returns what was changed, and whether the record can be read all the same. */
function changeRow(table: DatabaseSync, random: Random): { readonly what: string; readonly isReadable: boolean } | undefined {
  const rows = rowsOf(table);
  const kinds = [...new Set(rows.map((row) => row.table))];
  if (kinds.length === 0) return undefined;
  const kind = random.pick(kinds as [Row["table"], ...Row["table"][]]);
  const row = random.pick(rows.filter((one) => one.table === kind) as [Row, ...Row[]]);
  const body = oddBody(row.body, random);
  if (row.table === "document") table.prepare("UPDATE document SET bytes = ? WHERE name = ?").run(Buffer.from(body), row.key);
  else table.prepare(`UPDATE ${row.table} SET body = ? WHERE ${row.table === "claim" ? "name" : "id"} = ?`).run(body, row.key);
  const what = `${row.table} ${row.key} ${difference(row.body, body)}`;
  return { what, isReadable: row.table === "claim" && claimRecordProblem(parseJson(body)) === undefined };
}

function rowsOf(table: DatabaseSync): readonly Row[] {
  const read = (name: Row["table"], sql: string): readonly Row[] =>
    table
      .prepare(sql)
      .all()
      .map(({ key, body }) => ({
        table: name,
        key: String(key),
        body: body instanceof Uint8Array ? Buffer.from(body).toString() : String(body),
      }));
  return [
    ...read("claim", "SELECT name AS key, body FROM claim ORDER BY name"),
    ...read("command", "SELECT id AS key, body FROM command ORDER BY id"),
    // The catalogue is compressed, and read by no function of the lab.
    ...read("document", "SELECT name AS key, bytes AS body FROM document WHERE name NOT LIKE 'catalog%' ORDER BY name"),
  ];
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
