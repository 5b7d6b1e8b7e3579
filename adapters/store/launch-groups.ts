import { randomUUID } from "node:crypto";
import { type GroupMember, isClosed, type LaunchGroup } from "#core/model/launch-group.ts";
import { ConflictError } from "#core/ports/errors.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { readGroup } from "./records.ts";
import type { TableItem } from "./table.ts";
import type { TableRequests } from "./table-requests.ts";
import { partition, ttlOf, type VersionedItems } from "./versioned-items.ts";

const GROUP = "launch#";

const memberText = ({ name, alike }: GroupMember): string => `${alike} ${name}`;

type LaunchGroups = Pick<NodeClaimStore, "joinLaunch" | "launchGroup" | "updateLaunchGroup">;

/** The launch groups of a cluster: `launch#ID`. */
export function launchGroups({ write, get, pack, unpack }: TableRequests, versioned: VersionedItems): LaunchGroups {
  /** A group that is closed has a `record`; members can join one without. */
  function itemOf({ cluster, id, version, members, expiresAt, ...stored }: LaunchGroup): TableItem {
    return {
      ...{ pk: partition(cluster), sk: GROUP + id, version, nonce: randomUUID(), expiresAt, ttl: ttlOf(expiresAt) },
      ...(members.length > 0 && { members: new Set(members.map(memberText)) }),
      ...(isClosed({ cluster, id, version, members, expiresAt, ...stored }) && { record: pack(stored) }),
    };
  }

  function groupOf(item: TableItem): LaunchGroup {
    const id = item.sk.slice(GROUP.length);
    const members = [...((item["members"] ?? []) as Iterable<string>)].map((text): GroupMember => {
      const [alike = "", name = ""] = text.split(" ", 2);
      return { name, alike };
    });
    const sorted = members.toSorted((a, b) => (memberText(a) < memberText(b) ? -1 : 1));
    const facts = { id, version: Number(item["version"]), members: sorted, expiresAt: Number(item["expiresAt"]) };
    const stored = item["record"] === undefined ? {} : readGroup(unpack(item["record"]), id);
    return { cluster: item.pk.slice(partition("").length), ...facts, ...stored };
  }

  return {
    async joinLaunch(cluster, id, member, expiresAt) {
      const result = await write(
        {
          update: { pk: partition(cluster), sk: GROUP + id },
          // A set, so that many members join at the same time without a conflict.
          by: { setIfAbsent: { expiresAt, ttl: ttlOf(expiresAt) }, add: { members: new Set([memberText(member)]), version: 1 } },
          if: { absent: "record" },
        },
        { returns: "new" },
      );
      if (result.item === undefined) throw new Error(`Launch group ${id} is closed, and the table does not say what it is.`);
      return groupOf(result.item);
    },
    async launchGroup(cluster, id) {
      const item = await get({ pk: partition(cluster), sk: GROUP + id });
      return item && groupOf(item);
    },
    async updateLaunchGroup(group) {
      const { id, version } = group;
      const written = { ...group, version: version + 1 };
      if (!(await versioned.put(itemOf(written), { attribute: "version", equals: version })))
        throw new ConflictError(`Launch group ${id} has changed or gone since version ${version} was read.`);
      return written;
    },
  };
}
