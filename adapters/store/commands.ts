import { randomUUID } from "node:crypto";
import type { CommandRecord } from "#core/model/command-record.ts";
import { readCommand } from "#core/model/read-record.ts";
import { ConflictError } from "#core/ports/errors.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { leaseCheck, leaseLost } from "./leases.ts";
import { withSchema } from "./records.ts";
import type { TableItem } from "./table.ts";
import type { TableRequests } from "./table-requests.ts";
import { NEW, partition, type VersionedItems } from "./versioned-items.ts";

const COMMAND = "command#";

/** The item of a command, with a nonce of its own. */
export const commandItem = (command: CommandRecord, pack: TableRequests["pack"]): TableItem => ({
  ...{ pk: partition(command.cluster), sk: COMMAND + command.id, version: command.version, phase: command.phase, nonce: randomUUID() },
  record: pack(withSchema(command)),
});

type Commands = Pick<NodeClaimStore, "commands" | "createCommand" | "updateCommand" | "removeCommand">;

/** The disruption commands of a cluster: `command#ID`. */
export function disruptionCommands({ transact, query, pack, unpack }: TableRequests, versioned: VersionedItems): Commands {
  const changed = ({ id, version }: CommandRecord) =>
    new ConflictError(`Disruption command ${id} has changed or gone since version ${version} was read.`);

  return {
    async commands(cluster) {
      const items = await query({ pk: partition(cluster), prefix: COMMAND, isConsistent: true });
      return items.map((item) => readCommand(unpack(item["record"]), { cluster, id: item.sk.slice(COMMAND.length) }));
    },
    async createCommand(lease, command) {
      const written = withSchema({ ...command, version: 1 });
      const refused = await transact([leaseCheck(lease), { put: commandItem(written, pack), if: NEW }]);
      if (refused === undefined) return written;
      throw refused[0] === undefined ? new ConflictError(`There is a disruption command ${command.id} already.`) : leaseLost(lease);
    },
    async updateCommand(command, history) {
      const written = withSchema({ ...command, version: command.version + 1 });
      const isSame = { attribute: "version", equals: command.version } as const;
      if (!(await versioned.put(commandItem(written, pack), isSame, history))) throw changed(command);
      return written;
    },
    async removeCommand(command, history) {
      const key = { pk: partition(command.cluster), sk: COMMAND + command.id };
      if (!(await versioned.remove(key, command.version, history))) throw changed(command);
    },
  };
}
