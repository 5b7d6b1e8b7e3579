import type { CommandRecord } from "../model/command-record.ts";
import type { Lease } from "../model/lease.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { UnavailableOffering } from "../model/unavailable-offering.ts";

/**
 * The record of intent, one partition a cluster. All reads are strongly consistent but `byInstance`.
 * A write names the version that was read and throws ConflictError when another came first; nothing is ever
 * overwritten unseen.
 */
export interface NodeClaimStore {
  /**
   * Writes the intents (and, with them, the command that they belong to) as long as the lease is still held: at most 99 in
   * one transaction, in order, so that a kill leaves a prefix. Intents that exist already under the same intentId are left alone.
   * Throws ConflictError when the lease was lost or the command has changed.
   */
  writeIntents(lease: Lease, records: readonly NodeClaimRecord[], command?: CommandRecord): Promise<void>;
  /** Writes a record that must not exist yet (adoption). Throws ConflictError when it does. */
  create(record: NodeClaimRecord): Promise<NodeClaimRecord>;
  get(cluster: string, name: string): Promise<NodeClaimRecord | undefined>;
  list(cluster: string): Promise<readonly NodeClaimRecord[]>;
  /** By EC2 instance id, over all clusters; may lag behind by a second. */
  byInstance(instanceId: string): Promise<NodeClaimRecord | undefined>;
  /** Replaces the record whose version is `record.version`; returns it with its new version. */
  update(record: NodeClaimRecord): Promise<NodeClaimRecord>;
  /** Removes the record if its version is still the one given. Gone already is fine. */
  remove(record: NodeClaimRecord): Promise<void>;

  markUnavailable(cluster: string, offerings: readonly UnavailableOffering[]): Promise<void>;
  /** Those not expired at `now` (ms). */
  unavailable(cluster: string, now: number): Promise<readonly UnavailableOffering[]>;

  /** Undefined while somebody else holds it. A holder that asks again gets it again, under a new token. */
  acquireLease(cluster: string, holder: string, now: number, ttlMs: number): Promise<Lease | undefined>;
  /** Gives it back if it is still ours. */
  releaseLease(lease: Lease): Promise<void>;

  commands(cluster: string): Promise<readonly CommandRecord[]>;
  /** Writes a new command as long as the lease is held. Throws ConflictError otherwise. */
  createCommand(lease: Lease, command: CommandRecord): Promise<CommandRecord>;
  updateCommand(command: CommandRecord): Promise<CommandRecord>;
  removeCommand(command: CommandRecord): Promise<void>;

  /** True the first time a key is seen until it expires: event dedupe. Times in ms. */
  isFirstWithin(cluster: string, key: string, now: number, ttlMs: number): Promise<boolean>;

  /** A compressed document under a name (the catalogue), any size; undefined when absent. `version` tells whether a cached copy still holds. */
  putDocument(name: string, bytes: Uint8Array, version: string): Promise<void>;
  documentVersion(name: string): Promise<string | undefined>;
  getDocument(name: string): Promise<{ readonly bytes: Uint8Array; readonly version: string } | undefined>;
}
