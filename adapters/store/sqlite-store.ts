import { DatabaseSync } from "node:sqlite";
import { dayOf, inOrder, keyOf, keyPrefixOf } from "#core/history/keys.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import type { HistoryEntry } from "#core/model/history-entry.ts";
import { isClosed, type LaunchGroup } from "#core/model/launch-group.ts";
import type { Lease } from "#core/model/lease.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { readCommand } from "#core/model/read-record.ts";
import { readRequestPace } from "#core/model/request-pace.ts";
import type { UnavailableOffering } from "#core/model/unavailable-offering.ts";
import { ConflictError } from "#core/ports/errors.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { intentBatches } from "./intent-batches.ts";
import { checkItem, checkTransaction } from "./item-limits.ts";
import { ownerOf, readClaim, readClaims, readGroup, withSchema } from "./records.ts";

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS claim (cluster TEXT, name TEXT, version INTEGER NOT NULL, intent_id TEXT NOT NULL, instance_id TEXT,
    body TEXT NOT NULL, PRIMARY KEY (cluster, name)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS claim_by_instance ON claim (instance_id) WHERE instance_id IS NOT NULL;
  CREATE TABLE IF NOT EXISTS command (cluster TEXT, id TEXT, version INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (cluster, id)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS launch_group (cluster TEXT, id TEXT, version INTEGER NOT NULL, expires_at INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (cluster, id)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS unavailable (cluster TEXT, capacity_type TEXT, instance_type TEXT, zone TEXT, expires_at INTEGER NOT NULL,
    PRIMARY KEY (cluster, capacity_type, instance_type, zone)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS lease (cluster TEXT PRIMARY KEY, holder TEXT, token INTEGER NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS sighting (cluster TEXT, key TEXT, expires_at INTEGER NOT NULL, PRIMARY KEY (cluster, key)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS history (cluster TEXT, day TEXT, key TEXT, at INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (cluster, day, key)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS pace (bucket TEXT PRIMARY KEY, version INTEGER NOT NULL, body TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS document (name TEXT PRIMARY KEY, version TEXT NOT NULL, bytes BLOB NOT NULL) WITHOUT ROWID;
`;

/**
 * The port NodeClaimStore on SQLite, in one file or (by default) in memory, for the lab and tests. It fulfils the same
 * contract suite as the DynamoDB store, but keeps the history for ever. `close` closes it; several processes may open
 * one file.
 */
export function sqliteNodeClaimStore(path = ":memory:"): NodeClaimStore & { close(): void } {
  const db = new DatabaseSync(path, { timeout: 5_000 });
  if (path !== ":memory:") {
    db.exec("PRAGMA journal_mode = WAL");
  }
  db.exec(SCHEMA);
  const sql = {
    claim: db.prepare("SELECT version, intent_id, body FROM claim WHERE cluster = ? AND name = ?"),
    claims: db.prepare("SELECT name, body FROM claim WHERE cluster = ? ORDER BY name"),
    claimByInstance: db.prepare("SELECT body FROM claim WHERE instance_id = ? LIMIT 1"),
    insertClaim: db.prepare("INSERT INTO claim (version, intent_id, instance_id, body, cluster, name) VALUES (?, ?, ?, ?, ?, ?)"),
    updateClaim: db.prepare("UPDATE claim SET version = ?, intent_id = ?, instance_id = ?, body = ? WHERE cluster = ? AND name = ?"),
    deleteClaim: db.prepare("DELETE FROM claim WHERE cluster = ? AND name = ?"),
    command: db.prepare("SELECT version, body FROM command WHERE cluster = ? AND id = ?"),
    commands: db.prepare("SELECT id, body FROM command WHERE cluster = ? ORDER BY id"),
    putCommand: db.prepare("INSERT OR REPLACE INTO command (cluster, id, version, body) VALUES (?, ?, ?, ?)"),
    deleteCommand: db.prepare("DELETE FROM command WHERE cluster = ? AND id = ?"),
    group: db.prepare("SELECT version, body FROM launch_group WHERE cluster = ? AND id = ?"),
    putGroup: db.prepare("INSERT OR REPLACE INTO launch_group (cluster, id, version, expires_at, body) VALUES (?, ?, ?, ?, ?)"),
    sweepGroups: db.prepare("DELETE FROM launch_group WHERE cluster = ? AND expires_at <= ?"),
    putUnavailable: db.prepare("INSERT OR REPLACE INTO unavailable VALUES (?, ?, ?, ?, ?)"),
    unavailable: db.prepare("SELECT * FROM unavailable WHERE cluster = ? AND expires_at > ? ORDER BY capacity_type, instance_type, zone"),
    lease: db.prepare("SELECT holder, token, expires_at FROM lease WHERE cluster = ?"),
    putLease: db.prepare("INSERT OR REPLACE INTO lease (cluster, holder, token, expires_at) VALUES (?, ?, ?, ?)"),
    sighting: db.prepare("SELECT expires_at FROM sighting WHERE cluster = ? AND key = ?"),
    putSighting: db.prepare("INSERT OR REPLACE INTO sighting (cluster, key, expires_at) VALUES (?, ?, ?)"),
    sweepSightings: db.prepare("DELETE FROM sighting WHERE cluster = ? AND expires_at <= ?"),
    sweepUnavailable: db.prepare("DELETE FROM unavailable WHERE cluster = ? AND expires_at <= ?"),
    pace: db.prepare("SELECT version, body FROM pace WHERE bucket = ?"),
    putPace: db.prepare("INSERT OR REPLACE INTO pace (bucket, version, body) VALUES (?, ?, ?)"),
    putDocument: db.prepare("INSERT OR REPLACE INTO document (name, version, bytes) VALUES (?, ?, ?)"),
    document: db.prepare("SELECT version, bytes FROM document WHERE name = ?"),
    putHistory: db.prepare("INSERT OR REPLACE INTO history (cluster, day, key, at, body) VALUES (?, ?, ?, ?, ?)"),
    history: db.prepare("SELECT body FROM history WHERE cluster = ? AND at >= ? AND at < ? AND substr(key, 1, length(?)) = ?"),
    documentVersion: db.prepare("SELECT version FROM document WHERE name = ?"),
  };

  /** Runs `act` in one transaction, which holds the write lock from its start. */
  function atomically<T>(act: () => T): T {
    db.exec("BEGIN IMMEDIATE");
    try {
      const result = act();
      db.exec("COMMIT");
      return result;
    } catch (error) {
      db.exec("ROLLBACK");
      throw error;
    }
  }

  /** Every write is made through this, so that a failure is always a rejected promise. */
  const write = async <T>(act: () => T): Promise<T> => atomically(act);

  function writeClaim(record: NodeClaimRecord, version: number, statement: typeof sql.insertClaim): NodeClaimRecord {
    const written = withSchema({ ...record, version });
    const body = JSON.stringify(written);
    const instanceId = record.instance?.id;
    checkItem({
      partition: `cluster#${record.cluster}`,
      sort: `claim#${record.name}`,
      body,
      numbers: { version, dueAt: record.dueAt },
      ...(instanceId !== undefined && { instanceId }),
    });
    statement.run(version, record.intentId, instanceId ?? null, body, record.cluster, record.name);
    return written;
  }

  function isHeld({ cluster, holder, token }: Lease): boolean {
    const held = sql.lease.get(cluster);
    return held?.["holder"] === holder && held["token"] === token;
  }

  function requireLease(lease: Lease): void {
    if (!isHeld(lease)) {
      throw new ConflictError(`The lease of cluster ${lease.cluster} is no longer held by ${lease.holder}.`);
    }
  }

  function writeHistory(entries: readonly HistoryEntry[] = []): void {
    for (const entry of entries) {
      const [day, key, body] = [dayOf(entry.at), keyOf(entry), JSON.stringify(entry)];
      checkItem({ partition: `history#${entry.cluster}#${day}`, sort: key, body });
      sql.putHistory.run(entry.cluster, day, key, entry.at, body);
    }
  }

  function insertIntent(record: NodeClaimRecord, history: readonly HistoryEntry[]): void {
    const existing = sql.claim.get(record.cluster, record.name);
    if (existing === undefined) {
      writeClaim(record, 1, sql.insertClaim);
      writeHistory(history);
    } else if (existing["intent_id"] !== record.intentId) {
      throw new ConflictError(`NodeClaim ${record.name} was already made by another intent.`);
    }
  }

  /** Replaces the command of the same version (0: there is none yet). Repeating a write is fine. */
  function replaceCommand(command: CommandRecord, history: readonly HistoryEntry[] = []): CommandRecord {
    const written = withSchema({ ...command, version: command.version + 1 });
    const body = JSON.stringify(written);
    checkItem({ partition: `cluster#${command.cluster}`, sort: `command#${command.id}`, body, numbers: { version: written.version } });
    const existing = sql.command.get(command.cluster, command.id);
    if ((existing?.["version"] ?? 0) === command.version) {
      sql.putCommand.run(command.cluster, command.id, written.version, body);
      writeHistory(history);
    } else if (existing?.["body"] !== body) {
      throw new ConflictError(`Disruption command ${command.id} has changed since version ${command.version} was read.`);
    }
    return written;
  }

  function groupAt(cluster: string, id: string): LaunchGroup | undefined {
    const row = sql.group.get(cluster, id);
    if (row === undefined) return undefined;
    const group = parsed(row) as LaunchGroup;
    return { ...group, ...readGroup(group, id) };
  }

  function writeGroup(group: LaunchGroup): LaunchGroup {
    const body = JSON.stringify(group);
    checkItem({ partition: `cluster#${group.cluster}`, sort: `launch#${group.id}`, body, numbers: { expiresAt: group.expiresAt } });
    sql.putGroup.run(group.cluster, group.id, group.version, group.expiresAt, body);
    return group;
  }

  const changed = (record: NodeClaimRecord) =>
    new ConflictError(`NodeClaim ${record.name} has changed or gone since version ${record.version} was read.`);

  return {
    async writeIntents(lease, records, command, entries, onWritten = async () => {}) {
      // The same transactions as in DynamoDB, so that a conflict leaves the same intents written.
      for (const [i, { intents, history }] of intentBatches(records, command !== undefined, entries).entries()) {
        const items = [...(i === 0 && command !== undefined ? [command] : []), ...intents.flatMap((one) => [one.record, ...one.history])];
        checkTransaction([...items, ...history].map((item) => JSON.stringify(item)));
        atomically(() => {
          requireLease(lease);
          if (i === 0 && command !== undefined) {
            replaceCommand(command, history);
          } else {
            writeHistory(history);
          }
          for (const { record, history: told } of intents) {
            insertIntent(record, told);
          }
        });
        await onWritten(intents.map(({ record }) => record));
      }
    },
    create: (record, history) =>
      write(() => {
        if (sql.claim.get(record.cluster, record.name) !== undefined) {
          throw new ConflictError(`NodeClaim ${record.name} has a record already.`);
        }
        writeHistory(history);
        return writeClaim(record, 1, sql.insertClaim);
      }),
    get: async (cluster, name) => {
      const row = sql.claim.get(cluster, name);
      return row && readClaim(parsed(row), { cluster, name });
    },
    list: async (cluster, setAside) =>
      readClaims(
        sql.claims.all(cluster).map((row) => ({ name: String(row["name"]), value: parsed(row) })),
        cluster,
        setAside,
      ),
    byInstance: async (instanceId) => {
      checkItem({ partition: instanceId, sort: "instanceId" });
      return ownerOf(parsed(sql.claimByInstance.get(instanceId)), instanceId);
    },
    update: (record, history) =>
      write(() => {
        if (sql.claim.get(record.cluster, record.name)?.["version"] !== record.version) {
          throw changed(record);
        }
        writeHistory(history);
        return writeClaim(record, record.version + 1, sql.updateClaim);
      }),
    remove: (record, history) =>
      write(() => {
        const existing = sql.claim.get(record.cluster, record.name);
        if (existing !== undefined && existing["version"] !== record.version) {
          throw changed(record);
        }
        if (existing !== undefined) writeHistory(history);
        sql.deleteClaim.run(record.cluster, record.name);
      }),

    joinLaunch: (cluster, id, member, expiresAt) =>
      write(() => {
        const found = groupAt(cluster, id) ?? { cluster, id, version: 0, members: [], expiresAt };
        if (isClosed(found)) return found;
        const members = found.members.filter(({ name, alike }) => name !== member.name || alike !== member.alike);
        const sorted = [...members, member].sort((a, b) => (`${a.alike} ${a.name}` < `${b.alike} ${b.name}` ? -1 : 1));
        return writeGroup({ ...found, members: sorted, version: found.version + 1 });
      }),
    launchGroup: async (cluster, id) => groupAt(cluster, id),
    updateLaunchGroup: (group) =>
      write(() => {
        if (groupAt(group.cluster, group.id)?.version !== group.version) {
          throw new ConflictError(`Launch group ${group.id} has changed or gone since version ${group.version} was read.`);
        }
        return writeGroup({ ...group, version: group.version + 1 });
      }),

    markUnavailable: (cluster, offerings) =>
      write(() => {
        for (const { capacityType, instanceType, zone, expiresAt } of offerings) {
          const sort = `unavailable#${capacityType}#${instanceType}#${zone}`;
          checkItem({ partition: `cluster#${cluster}`, sort, numbers: { expiresAt } });
          sql.putUnavailable.run(cluster, capacityType, instanceType, zone, expiresAt);
        }
      }),
    unavailable: async (cluster, now) =>
      sql.unavailable.all(cluster, now).map((row) => ({
        instanceType: String(row["instance_type"]),
        zone: String(row["zone"]),
        capacityType: row["capacity_type"] as UnavailableOffering["capacityType"],
        expiresAt: Number(row["expires_at"]),
      })),

    acquireLease: (cluster, holder, now, ttlMs) =>
      write(() => {
        checkItem({ partition: `cluster#${cluster}`, sort: "lease", numbers: { expiresAt: now + ttlMs, now } });
        const held = sql.lease.get(cluster);
        if (held?.["holder"] != null && held["holder"] !== holder && Number(held["expires_at"]) > now) {
          return undefined;
        }
        const lease: Lease = { cluster, holder, token: Number(held?.["token"] ?? 0) + 1, expiresAt: now + ttlMs };
        sql.putLease.run(cluster, holder, lease.token, lease.expiresAt);
        // Nothing else deletes expired rows, and leases are acquired often enough.
        sql.sweepSightings.run(cluster, now);
        sql.sweepUnavailable.run(cluster, now);
        sql.sweepGroups.run(cluster, now);
        return lease;
      }),
    renewLease: (lease, now, ttlMs) =>
      write(() => {
        if (!isHeld(lease)) return undefined;
        const renewed: Lease = { ...lease, expiresAt: now + ttlMs };
        sql.putLease.run(lease.cluster, lease.holder, lease.token, renewed.expiresAt);
        return renewed;
      }),
    releaseLease: (lease) =>
      write(() => {
        if (isHeld(lease)) {
          // The row stays, because the next token must be greater.
          sql.putLease.run(lease.cluster, null, lease.token, 0);
        }
      }),

    commands: async (cluster) => sql.commands.all(cluster).map((row) => readCommand(parsed(row), { cluster, id: String(row["id"]) })),
    createCommand: (lease, command) =>
      write(() => {
        requireLease(lease);
        if (sql.command.get(command.cluster, command.id) !== undefined) {
          throw new ConflictError(`There is a disruption command ${command.id} already.`);
        }
        return replaceCommand({ ...command, version: 0 });
      }),
    updateCommand: (command, history) =>
      write(() => {
        if (sql.command.get(command.cluster, command.id)?.["version"] !== command.version) {
          throw new ConflictError(`Disruption command ${command.id} has changed or gone since version ${command.version} was read.`);
        }
        return replaceCommand(command, history);
      }),
    removeCommand: (command, history) =>
      write(() => {
        const existing = sql.command.get(command.cluster, command.id);
        if (existing !== undefined && existing["version"] !== command.version) {
          throw new ConflictError(`Disruption command ${command.id} has changed since version ${command.version} was read.`);
        }
        if (existing !== undefined) writeHistory(history);
        sql.deleteCommand.run(command.cluster, command.id);
      }),

    addHistory: (entries) => write(() => writeHistory(entries)),
    history: async (cluster, { since, until, about }) => {
      const prefix = keyPrefixOf(about);
      const rows = sql.history.all(cluster, since, until, prefix, prefix);
      return inOrder(rows.flatMap((row) => (parsed(row) as HistoryEntry | undefined) ?? []));
    },

    isFirstWithin: (cluster, key, now, ttlMs) =>
      write(() => {
        checkItem({ partition: `seen#${cluster}`, sort: key, numbers: { expiresAt: now + ttlMs } });
        if (Number(sql.sighting.get(cluster, key)?.["expires_at"] ?? Number.NEGATIVE_INFINITY) > now) {
          return false;
        }
        sql.putSighting.run(cluster, key, now + ttlMs);
        return true;
      }),

    wasSeen: async (cluster, key, now) => Number(sql.sighting.get(cluster, key)?.["expires_at"] ?? Number.NEGATIVE_INFINITY) > now,
    swapPace: (bucket, pace) =>
      write(() => {
        checkItem({ partition: `pace#${bucket}`, sort: "pace", numbers: { ...pace } });
        const existing = sql.pace.get(bucket);
        if (Number(existing?.["version"] ?? 0) !== pace.version) return readRequestPace(parsed(existing)) ?? "nothing";
        sql.putPace.run(bucket, pace.version + 1, JSON.stringify({ ...pace, version: pace.version + 1 }));
        return undefined;
      }),

    putDocument: (name, bytes, version) =>
      write(() => {
        checkItem({ partition: `document#${name}`, sort: "head" });
        sql.putDocument.run(name, version, bytes);
      }),
    documentVersion: async (name) => sql.documentVersion.get(name)?.["version"] as string | undefined,
    getDocument: async (name) => {
      const row = sql.document.get(name);
      return row && { bytes: row["bytes"] as Uint8Array, version: String(row["version"]) };
    },
    close: () => db.close(),
  };
}

/** The stored value; undefined when its text cannot be read. */
function parsed(row: Readonly<Record<string, unknown>> | undefined): unknown {
  try {
    return row && (JSON.parse(String(row["body"])) as unknown);
  } catch {
    return undefined;
  }
}
