import type { CommandRecord } from "../model/command-record.ts";
import type { HistoryEntry } from "../model/history-entry.ts";
import type { HistoryRange } from "../model/history-range.ts";
import type { GroupMember, LaunchGroup } from "../model/launch-group.ts";
import type { Lease } from "../model/lease.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { UnreadableRecord } from "../model/read-record.ts";
import type { RequestPace } from "../model/request-pace.ts";
import type { UnavailableOffering } from "../model/unavailable-offering.ts";

/**
 * The records of intent, one partition per cluster. All reads except `byInstance` are strongly consistent. A write
 * names the version that was read and throws ConflictError when another write came first, so that no change is
 * overwritten unseen.
 *
 * A write may bring entries of the history (`history`), which are stored in the same transaction: all of it is written,
 * or none. How many days they are kept, and whether at all, is the deployment's choice, which no caller knows.
 * @example
 * const record = await store.get("prod", "default-x7k2p");
 * if (record) await store.update({ ...record, dueAt: now }); // throws ConflictError when the record has changed
 */
export interface NodeClaimStore {
  /**
   * Writes the intents, and the command that they belong to, on the condition that the lease is still held. One
   * transaction holds at most 99 intents and entries; transactions run in order, so that a crash leaves a prefix. An
   * intent that exists under the same intentId is not written again. An entry that names the NodeClaim of an intent is
   * written with that intent alone, and any other with the command. Throws ConflictError when the lease was lost or the
   * command has changed.
   * @param onWritten gets the intents of each transaction once they are there, and is waited for before the next
   */
  writeIntents(
    lease: Lease,
    records: readonly NodeClaimRecord[],
    command?: CommandRecord,
    history?: readonly HistoryEntry[],
    onWritten?: (written: readonly NodeClaimRecord[]) => Promise<void>,
  ): Promise<void>;
  /** Writes a record that must not exist yet (adoption). Throws ConflictError when it exists. */
  create(record: NodeClaimRecord, history?: readonly HistoryEntry[]): Promise<NodeClaimRecord>;
  /** Throws UnreadableRecordError for a record that cannot be read. */
  get(cluster: string, name: string): Promise<NodeClaimRecord | undefined>;
  /** All records of a cluster; those that cannot be read are given to `setAside` instead. */
  list(cluster: string, setAside?: (record: UnreadableRecord) => void): Promise<readonly NodeClaimRecord[]>;
  /** By EC2 instance id, over all clusters; the answer may be one second old. Undefined when it cannot be read. */
  byInstance(instanceId: string): Promise<NodeClaimRecord | undefined>;
  /** Replaces the record whose version is `record.version`; returns the record with its new version. */
  update(record: NodeClaimRecord, history?: readonly HistoryEntry[]): Promise<NodeClaimRecord>;
  /**
   * Removes the record if its version is still the given one. A record that does not exist counts as removed: then no
   * entry is written either.
   */
  remove(record: NodeClaimRecord, history?: readonly HistoryEntry[]): Promise<void>;

  /**
   * Adds a member to a group, which this creates, and returns the group; one that is closed is returned as it is. The
   * table may forget a new group at `expiresAt` (ms).
   */
  joinLaunch(cluster: string, id: string, member: GroupMember, expiresAt: number): Promise<LaunchGroup>;
  launchGroup(cluster: string, id: string): Promise<LaunchGroup | undefined>;
  /** Replaces the group whose version is `group.version`; returns the group with its new version. */
  updateLaunchGroup(group: LaunchGroup): Promise<LaunchGroup>;

  markUnavailable(cluster: string, offerings: readonly UnavailableOffering[]): Promise<void>;
  /** The marks that have not expired at `now` (ms). */
  unavailable(cluster: string, now: number): Promise<readonly UnavailableOffering[]>;

  /** Undefined while another holder has the lease. A holder that asks again gets the lease again, under a new token. */
  acquireLease(cluster: string, holder: string, now: number, ttlMs: number): Promise<Lease | undefined>;
  /** The lease with a later end and the same token; undefined when this holder no longer has it. */
  renewLease(lease: Lease, now: number, ttlMs: number): Promise<Lease | undefined>;
  /** Releases the lease if this holder still has it. */
  releaseLease(lease: Lease): Promise<void>;

  /** One that cannot be read has the phase SetAside. */
  commands(cluster: string): Promise<readonly CommandRecord[]>;
  /** Writes a new command on the condition that the lease is held. Throws ConflictError otherwise. */
  createCommand(lease: Lease, command: CommandRecord): Promise<CommandRecord>;
  updateCommand(command: CommandRecord, history?: readonly HistoryEntry[]): Promise<CommandRecord>;
  /** As `remove`. */
  removeCommand(command: CommandRecord, history?: readonly HistoryEntry[]): Promise<void>;

  /** Writes entries without a record: those of the same key (core/history/keys.ts) are replaced. */
  addHistory(entries: readonly HistoryEntry[]): Promise<void>;
  /** The entries of a cluster in the range, as far as they are kept, in the order of time; eventually consistent. */
  history(cluster: string, range: HistoryRange): Promise<readonly HistoryEntry[]>;

  /** True for the first call with a key until the key expires; deduplicates events. Times in ms. */
  isFirstWithin(cluster: string, key: string, now: number, ttlMs: number): Promise<boolean>;
  /** Whether `isFirstWithin` has seen the key, and it has not expired. */
  wasSeen(cluster: string, key: string, now: number): Promise<boolean>;

  /**
   * Replaces the state of a bucket of requests if its version is still that of `pace`, 0 for one that does not exist;
   * undefined when it was written, as the next version. Otherwise nothing is written, and the answer is what is there
   * now, or "nothing". One small write in either case. `bucket` names account, region and action.
   */
  swapPace(bucket: string, pace: RequestPace): Promise<RequestPace | "nothing" | undefined>;

  /**
   * A compressed document of any size under a name (the catalogue). `version` says whether a cached copy is current.
   */
  putDocument(name: string, bytes: Uint8Array, version: string): Promise<void>;
  documentVersion(name: string): Promise<string | undefined>;
  /** Throws UnreadableRecordError for a document that is damaged. */
  getDocument(name: string): Promise<{ readonly bytes: Uint8Array; readonly version: string } | undefined>;
}
