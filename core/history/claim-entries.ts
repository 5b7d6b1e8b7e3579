import { fnv1a32 } from "../lib/fnv.ts";
import type {
  Adopted,
  Collected,
  Hastened,
  HistoryMachine,
  Initialized,
  Launched,
  LaunchFailed,
  Registered,
  Removed,
  Terminating,
} from "../model/history-entry.ts";
import type { Instance } from "../model/instance.ts";
import { NODE_POOL } from "../model/labels.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import { NODE_CLAIM_TAG } from "../model/tags.ts";
import type { UnavailableOffering } from "../model/unavailable-offering.ts";

/** A message of AWS or of the API server may have any length; an item of the table may not. */
const MAX_MESSAGE = 600;
/** Offerings without capacity that one entry names. */
const MAX_UNAVAILABLE = 60;

/** `text` within the bound, its end marked where it was longer. */
export function bounded(text: string, max = MAX_MESSAGE): string {
  return text.length > max ? `${text.slice(0, max)}…` : text;
}

/** What every entry about the NodeClaim of a record has. `at`: ms since the epoch. */
export function aboutClaim({ cluster, name, intentId, nodePool = "" }: NodeClaimRecord, at: number) {
  return { cluster, at, nodeClaim: name, intent: fnv1a32(intentId).toString(16).padStart(8, "0"), nodePool };
}

/** The machine of a record, with its price at launch; undefined before the launch. */
export function machineOf({ instance, launchPrice = {} }: NodeClaimRecord): HistoryMachine | undefined {
  if (instance === undefined) return undefined;
  const { id: instanceId, instanceType, zone, capacityType } = instance;
  return { instanceId, instanceType, zone, capacityType, ...launchPrice };
}

/** For the record with its instance; none without one. */
export function launchedEntries(record: NodeClaimRecord, at: number): readonly Launched[] {
  const machine = machineOf(record);
  if (machine === undefined) return [];
  const { commandId, launchAttempts: attempt } = record;
  return [{ type: "Launched", ...aboutClaim(record, at), machine, attempt, ...(commandId !== undefined && { commandId }) }];
}

export function launchFailed(
  record: NodeClaimRecord,
  at: number,
  failure: { readonly reason: string; readonly message: string; readonly unavailable?: readonly UnavailableOffering[] },
): LaunchFailed {
  const unavailable = (failure.unavailable ?? [])
    .slice(0, MAX_UNAVAILABLE)
    .map(({ instanceType, capacityType, zone }) => ({ instanceType, capacityType, zone }));
  const { launchAttempts: attempt } = record;
  return {
    type: "LaunchFailed",
    ...aboutClaim(record, at),
    reason: bounded(failure.reason, 100),
    message: bounded(failure.message),
    unavailable,
    attempt,
  };
}

export function adopted(record: NodeClaimRecord, at: number): Adopted {
  const machine = machineOf(record);
  const { launchedAt } = record;
  return { type: "Adopted", ...aboutClaim(record, at), ...(machine && { machine }), ...(launchedAt !== undefined && { launchedAt }) };
}

export function registered(record: NodeClaimRecord, node: string, at: number): Registered {
  return { type: "Registered", ...aboutClaim(record, at), node, ...since(record.launchedAt, at) };
}

/** For a record that knows its node; none otherwise. */
export function initializedEntries(record: NodeClaimRecord, at: number): readonly Initialized[] {
  const { nodeName: node } = record;
  return node === undefined ? [] : [{ type: "Initialized", ...aboutClaim(record, at), node, ...since(record.launchedAt, at) }];
}

const since = (from: number | undefined, at: number) => (from === undefined ? {} : { tookMs: Math.max(at - from, 0) });

/** For the record with `terminating`; none without it. */
export function terminatingEntries(record: NodeClaimRecord, at: number): readonly Terminating[] {
  const { terminating, nodeName, instance } = record;
  if (terminating === undefined) return [];
  const { reason, detail, commandId, deadline } = terminating;
  return [
    {
      type: "Terminating",
      ...aboutClaim(record, at),
      ...(nodeName !== undefined && { node: nodeName }),
      reason,
      ...(detail !== undefined && { detail }),
      ...(commandId !== undefined && { commandId }),
      ...(deadline !== undefined && { deadline }),
      ...(instance && { capacityType: instance.capacityType }),
    },
  ];
}

/** A record that is terminating already and must end by `deadline` (ms) for another reason. */
export function hastened(
  record: NodeClaimRecord,
  at: number,
  { reason, detail, deadline }: { readonly reason: string; readonly detail?: string | undefined; readonly deadline: number },
): Hastened {
  const { nodeName } = record;
  return {
    type: "Hastened",
    ...aboutClaim(record, at),
    ...(nodeName !== undefined && { node: nodeName }),
    reason,
    ...(detail !== undefined && { detail }),
    deadline,
  };
}

/** For a terminating record whose NodeClaim and machine are gone; none for any other. */
export function removedEntries(record: NodeClaimRecord, at: number): readonly Removed[] {
  const { terminating, nodeName, launchedAt } = record;
  if (terminating === undefined) return [];
  const machine = machineOf(record);
  return [
    {
      type: "Removed",
      ...aboutClaim(record, at),
      ...(nodeName !== undefined && { node: nodeName }),
      reason: terminating.reason,
      terminatingAt: terminating.at,
      ...(terminating.commandId !== undefined && { commandId: terminating.commandId }),
      ...(machine && { machine }),
      ...(launchedAt !== undefined && { launchedAt }),
    },
  ];
}

/** For an instance of the cluster that nothing owns. */
export function collected({ id, instanceType, zone, capacityType, launchedAt, tags }: Instance, cluster: string, at: number): Collected {
  return {
    type: "Collected",
    cluster,
    at,
    nodeClaim: tags[NODE_CLAIM_TAG] ?? "",
    intent: "",
    nodePool: tags[NODE_POOL] ?? "",
    machine: { instanceId: id, instanceType, zone, capacityType },
    launchedAt,
  };
}
