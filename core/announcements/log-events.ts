import type { ResourceList } from "../model/kubernetes.ts";
import type { AnnouncementKind } from "../ports/announcements.ts";
import type { Log, LogFields } from "../ports/log.ts";

/**
 * The log lines that more than people read: the announcements on EventBridge and the lab's timeline are made from them.
 * One row for each, by its message.
 *
 * In: what the core and the functions report. Out: the line, and what it announces. The writers (`logEvent`, `lineOf`),
 * the announcements and the timeline take messages and field names from here, so that none of them can be changed
 * alone: a message or field that is renamed in one place does not compile in the others. Lines that only people read
 * are not listed.
 */

interface Named {
  readonly name: string;
}

/** The instance that a line is about. */
export interface InstanceFields {
  /** aws:///ZONE/INSTANCE-ID */
  readonly "provider-id": string;
  readonly "instance-type": string;
  readonly zone: string;
  readonly "capacity-type": string;
}

/** What lines about a NodeClaim say of its NodePool and of its instance; a NodeClaim may have neither. */
export type MachineFields = { readonly NodePool?: Named } & { readonly [F in keyof InstanceFields]?: InstanceFields[F] };

interface DisruptedNode {
  readonly Node: Named;
  readonly NodeClaim: Named;
  readonly NodePool: Named;
  readonly "instance-type": string;
  readonly "capacity-type": string;
  readonly zone: string;
  /** USD per hour. */
  readonly "price-per-hour": number;
}

interface ReplacementNode {
  readonly "capacity-type": string;
  /** The first of their names; fewer of each where there are several replacements. */
  readonly "instance-types": string;
}

/** Fields of a command's line. */
export interface CommandFields {
  readonly reason: string;
  readonly command: string;
  readonly "command-id": string;
  readonly decision: string;
  readonly "disrupted-node-count": number;
  readonly "replacement-node-count": number;
  readonly "pod-count": number;
  /** USD per hour. */
  readonly "savings-per-hour": number;
  readonly "disrupted-nodes": readonly DisruptedNode[];
  readonly "replacement-nodes": readonly ReplacementNode[];
}

interface ReplicaFields {
  readonly NodePool: Named;
  readonly current: number;
  readonly desired: number;
}

/** Each event's message, which is what users of Karpenter search for, and its fields. */
export interface LogEvents {
  "created nodeclaim": {
    readonly NodePool: { readonly name: string | undefined };
    readonly NodeClaim: Named;
    readonly requests: ResourceList;
    readonly "instance-types": string;
    /** USD per hour. */
    readonly "price-per-hour": number;
  };
  "launched nodeclaim": MachineFields & {
    readonly NodeClaim: Named;
    /** USD per hour; undefined when the price is not known. */
    readonly "price-per-hour": number | undefined;
    readonly allocatable: ResourceList | undefined;
    readonly reason: string;
    /** The disruption command that this NodeClaim replaces nodes for. */
    readonly "command-id": string | undefined;
  };
  "failed launching nodeclaim": MachineFields & { readonly NodeClaim: Named; readonly error: string; readonly reason: string };
  "registered nodeclaim": MachineFields & { readonly NodeClaim: Named; readonly Node: Named };
  "initialized nodeclaim": MachineFields & { readonly NodeClaim: Named; readonly Node: Named; readonly allocatable: ResourceList };
  "deleted nodeclaim": MachineFields & { readonly NodeClaim: Named; readonly reason: string | undefined };
  "deleted node": { readonly NodeClaim: Named; readonly Node: Named };
  "tainted node": {
    readonly NodeClaim: Named;
    readonly Node: Named;
    readonly "taint.Key": string;
    readonly "taint.Value": string;
    readonly "taint.Effect": string;
  };
  "deleting unhealthy node": { readonly NodeClaim: Named; readonly Node: Named; readonly condition: string };
  "garbage collected node": { readonly Node: Named; readonly "provider-id": string | undefined };
  /** The message continues: " via replace, terminating 1 nodes (1 pods) NODE/TYPE/CAPACITY and replacing with …". */
  "disrupting nodeclaim(s)": CommandFields & { readonly "replacement-nodeclaims": readonly string[] };
  "initiating delete from interruption message": MachineFields & {
    readonly NodeClaim: Named;
    readonly messageKind: string;
    readonly action: string;
  };
  "could not schedule pod": { readonly Pod: string; readonly error: string };
  "computed unready node(s) will fit pod(s)": { readonly nodes: number; readonly pods: number };
  "provisioning nodeclaims to satisfy replica count": ReplicaFields & { readonly "provision-count": number };
  "deprovisioning nodeclaims to satisfy replica count": ReplicaFields & { readonly "deprovision-count": number };
}

export type LogMessage = keyof LogEvents;

interface Announced<Field> {
  readonly kind: AnnouncementKind;
  /** The fields that distinguish one such happening from another: the announcement's id is made from them. */
  readonly identity: readonly Field[];
  /** Whether the line is written again at every try for as long as its cause lasts: it is announced once an hour. */
  readonly recurring?: true;
}

interface LogEvent<Field> {
  readonly level: "info" | "error";
  readonly announced?: Announced<Field>;
  /** Whether the timeline names the line by its node and not by its NodeClaim. */
  readonly aboutNode?: true;
}

export const LOG_EVENTS: { readonly [M in LogMessage]: LogEvent<keyof LogEvents[M]> } = {
  "created nodeclaim": { level: "info" },
  "launched nodeclaim": { level: "info", announced: { kind: "NodeClaim Launched", identity: ["NodeClaim", "provider-id"] } },
  "failed launching nodeclaim": {
    level: "error",
    announced: { kind: "NodeClaim Launch Failed", identity: ["NodeClaim", "reason", "error"], recurring: true },
  },
  "registered nodeclaim": { level: "info", announced: { kind: "NodeClaim Registered", identity: ["NodeClaim", "provider-id"] } },
  "initialized nodeclaim": { level: "info", announced: { kind: "NodeClaim Initialized", identity: ["NodeClaim", "provider-id"] } },
  "deleted nodeclaim": { level: "info", announced: { kind: "NodeClaim Terminated", identity: ["NodeClaim", "provider-id"] } },
  "deleted node": { level: "info", aboutNode: true },
  "tainted node": { level: "info", aboutNode: true },
  "deleting unhealthy node": { level: "info", aboutNode: true },
  "garbage collected node": { level: "info", aboutNode: true },
  "disrupting nodeclaim(s)": { level: "info", announced: { kind: "Nodes Disrupted", identity: ["command-id"] } },
  "initiating delete from interruption message": {
    level: "info",
    announced: { kind: "Node Interrupted", identity: ["NodeClaim", "messageKind"] },
  },
  "could not schedule pod": { level: "error", announced: { kind: "Pod Unschedulable", identity: ["Pod", "error"], recurring: true } },
  "computed unready node(s) will fit pod(s)": { level: "info" },
  "provisioning nodeclaims to satisfy replica count": { level: "info" },
  "deprovisioning nodeclaims to satisfy replica count": { level: "info" },
};

/**
 * Fields that say which part of the program wrote the line, which is no part of what happened: they are not announced.
 */
export interface WriterFields {
  readonly controller?: string;
  readonly controllerGroup?: string;
  readonly controllerKind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly cluster?: string;
}

/** Writes the line of an event: `logEvent(log, "could not schedule pod", { Pod: "default/web", error })`. */
export function logEvent<M extends LogMessage>(log: Log, message: M, fields: LogEvents[M] & WriterFields): void {
  log[LOG_EVENTS[message].level](message, { ...fields });
}

/**
 * The NodeClaim of a line that the core decides on may be left to the shell, whose lines about a NodeClaim all carry
 * it.
 */
type CoreFields<M extends LogMessage> = Omit<LogEvents[M], "NodeClaim">;

/** The line of an event as an action of the core carries it; `via` is the rest of a message that continues. */
export function lineOf<M extends LogMessage>(message: M, fields: CoreFields<M>, via?: string) {
  const line: { readonly level: "info" | "error"; readonly message: string; readonly fields: LogFields } = {
    level: LOG_EVENTS[message].level,
    message: via === undefined ? message : `${message} via ${via}`,
    fields: { ...fields },
  };
  return line;
}

/**
 * The event of a log line by its message, of a message that continues by its beginning; undefined for any other line.
 */
export function eventOf(message: string): LogMessage | undefined {
  const beginning = message.replace(/ via .*$/s, "");
  return Object.hasOwn(LOG_EVENTS, beginning) ? (beginning as LogMessage) : undefined;
}

/** The fields of a line of this event; undefined for a line of any other. */
export function fieldsOf<M extends LogMessage>(
  line: { readonly message: string; readonly fields: LogFields },
  message: M,
): Partial<LogEvents[M]> | undefined {
  return eventOf(line.message) === message ? (line.fields as Partial<LogEvents[M]>) : undefined;
}
