import { DatabaseSync } from "node:sqlite";
import { deserialize, serialize } from "node:v8";
import type { Rows } from "./rows.ts";
import type { TableItem } from "./table.ts";

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS item (pk TEXT, sk TEXT, instance_id TEXT, ttl INTEGER, body BLOB NOT NULL, PRIMARY KEY (pk, sk)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS by_instance ON item (instance_id) WHERE instance_id IS NOT NULL;
`;

/** Rows in a file of SQLite, which several processes may open. */
export function fileRows(path: string): Rows {
  const db = new DatabaseSync(path, { timeout: 5_000 });
  db.exec("PRAGMA journal_mode = WAL");
  db.exec(SCHEMA);
  const sql = {
    read: db.prepare("SELECT body FROM item WHERE pk = ? AND sk = ?"),
    scan: db.prepare("SELECT body FROM item WHERE pk = ? AND sk >= ? AND substr(sk, 1, length(?)) = ? ORDER BY sk"),
    ofInstance: db.prepare("SELECT body FROM item WHERE instance_id = ?"),
    write: db.prepare("INSERT OR REPLACE INTO item (pk, sk, instance_id, ttl, body) VALUES (?, ?, ?, ?, ?)"),
    remove: db.prepare("DELETE FROM item WHERE pk = ? AND sk = ?"),
    expire: db.prepare("DELETE FROM item WHERE ttl * 1000 <= ?"),
  };
  const itemOf = (row: Readonly<Record<string, unknown>>): TableItem => deserialize(row["body"] as Uint8Array) as TableItem;
  const atomically: Rows["atomically"] = (act) => {
    db.exec("BEGIN IMMEDIATE");
    try {
      const result = act();
      db.exec("COMMIT");
      return result;
    } catch (error) {
      db.exec("ROLLBACK");
      throw error;
    }
  };
  return {
    read: ({ pk, sk }) => {
      const row = sql.read.get(pk, sk);
      return row && itemOf(row);
    },
    scan: (pk, prefix) => sql.scan.all(pk, prefix, prefix, prefix).map(itemOf),
    ofInstance: (instanceId) => sql.ofInstance.all(instanceId).map(itemOf),
    write: (item) => {
      const instanceId = typeof item["instanceId"] === "string" ? item["instanceId"] : null;
      const ttl = typeof item["ttl"] === "number" ? item["ttl"] : null;
      sql.write.run(item.pk, item.sk, instanceId, ttl, serialize(item));
    },
    remove: ({ pk, sk }) => void sql.remove.run(pk, sk),
    expire: (now) => void sql.expire.run(now),
    atomically,
    close: () => db.close(),
  };
}
