import type { CommandRecord } from "#core/model/command-record.ts";
import type { Lease } from "#core/model/lease.ts";
import { ConflictError } from "#core/ports/errors.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { claimItem } from "./claims.ts";
import { commandItem } from "./commands.ts";
import type { StoredHistory } from "./history.ts";
import { type IntentBatch, intentBatches } from "./intent-batches.ts";
import { leaseCheck, leaseLost } from "./leases.ts";
import { withSchema } from "./records.ts";
import type { Refusal } from "./table.ts";
import type { TableRequests } from "./table-requests.ts";
import { hasVersion, NEW } from "./versioned-items.ts";

/** What of a transaction is not written yet. */
interface Left extends IntentBatch {
  readonly command: CommandRecord | undefined;
}

/** Intents and the command that they belong to, written under the lease. */
export function intents(requests: TableRequests, kept: Pick<StoredHistory, "puts" | "kept">): Pick<NodeClaimStore, "writeIntents"> {
  const { transact, pack, unpack } = requests;

  const writesOf = (lease: Lease, { command, intents: left, history }: Left) => [
    leaseCheck(lease),
    ...(command ? [{ put: commandItem({ ...command, version: command.version + 1 }, pack), if: hasVersion(command.version) }] : []),
    ...left.map(({ record }) => ({ put: claimItem({ ...record, version: 1 }, pack), if: NEW })),
    ...kept.puts([...history, ...left.flatMap((intent) => intent.history)]),
  ];

  /** Throws when the stored command is another than the one that was to be written: then this is no second run. */
  function checkSame(command: CommandRecord, { item }: Refusal): void {
    const wanted = withSchema({ ...command, version: command.version + 1 });
    if (item !== undefined && JSON.stringify(unpack(item["record"])) === JSON.stringify(wanted)) return;
    throw new ConflictError(`Disruption command ${command.id} has changed since version ${command.version} was read.`);
  }

  /**
   * What is left when the table has refused the others, because a run that was killed had written them: then nothing
   * tells of them again. Throws ConflictError when another writer was there.
   */
  function withoutWritten(left: Left, [, ...refused]: readonly (Refusal | undefined)[]): Left {
    const { command } = left;
    const commandRefused = command && refused.shift();
    if (command && commandRefused) checkSame(command, commandRefused);
    const remaining = left.intents.filter(({ record }, i) => {
      const { item } = refused[i] ?? {};
      if (item !== undefined && item["intentId"] !== record.intentId)
        throw new ConflictError(`NodeClaim ${record.name} was already made by another intent.`);
      return item === undefined;
    });
    return commandRefused ? { command: undefined, intents: remaining, history: [] } : { ...left, intents: remaining };
  }

  /** One transaction; what exists already is left out of it. */
  async function writeBatch(lease: Lease, batch: Left): Promise<void> {
    for (let left = batch; ; ) {
      const refused = await transact(writesOf(lease, left));
      if (refused === undefined) return;
      if (refused[0] !== undefined) throw leaseLost(lease);
      const next = withoutWritten(left, refused);
      if (next.intents.length === left.intents.length && next.command === left.command)
        throw new Error(`DynamoDB table ${requests.name} refused intents without a reason.`);
      left = next;
    }
  }

  return {
    async writeIntents(lease, records, command, history = [], onWritten = async () => {}) {
      for (const [i, batch] of intentBatches(records, command !== undefined, kept.kept(history)).entries()) {
        await writeBatch(lease, { ...batch, command: i === 0 ? command : undefined });
        await onWritten(batch.intents.map(({ record }) => record));
      }
    },
  };
}
