// core/announcements: which log lines are also announced outside the cluster, and as what.
// Log lines come in, Announcement values go out. Who writes the lines, and EventBridge, must not be known here.

import { contentHash } from "../lib/fnv.ts";
import type { Announcement, AnnouncementKind } from "../ports/announcements.ts";
import type { LogFields } from "../ports/log.ts";

/** A line of the log. */
export interface Line {
  readonly message: string;
  readonly fields: LogFields;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

interface Rule {
  readonly kind: AnnouncementKind;
  /** The fields that identify an occurrence: the id is made from them. */
  readonly identity: readonly string[];
}

/**
 * The announced lines by message; a disruption's message continues with the names of its nodes, so its first words
 * count.
 */
const RULES: ReadonlyMap<string, Rule> = new Map(
  Object.entries({
    "launched nodeclaim": { kind: "NodeClaim Launched", identity: ["NodeClaim", "provider-id"] },
    "registered nodeclaim": { kind: "NodeClaim Registered", identity: ["NodeClaim", "provider-id"] },
    "initialized nodeclaim": { kind: "NodeClaim Initialized", identity: ["NodeClaim", "provider-id"] },
    "deleted nodeclaim": { kind: "NodeClaim Terminated", identity: ["NodeClaim", "provider-id"] },
    "failed launching nodeclaim": { kind: "NodeClaim Launch Failed", identity: ["NodeClaim", "reason", "error"] },
    "disrupting nodeclaim(s)": { kind: "Nodes Disrupted", identity: ["command-id"] },
    "initiating delete from interruption message": { kind: "Node Interrupted", identity: ["NodeClaim", "messageKind"] },
    "could not schedule pod": { kind: "Pod Unschedulable", identity: ["Pod", "error"] },
  } satisfies Readonly<Record<string, Rule>>),
);

/** Fields that name the part of the program that wrote the line; they do not belong to the occurrence. */
const WRITER = new Set(["controller", "controllerGroup", "controllerKind", "namespace", "name", "cluster"]);

/** The announcement of a log line, with the line's own fields; undefined for a line that is not announced. */
export function announcementOf({ message, fields, at }: Line, cluster: string): Announcement | undefined {
  const rule = RULES.get(message.replace(/ via .*$/s, ""));
  if (rule === undefined) return undefined;
  const id = contentHash([cluster, rule.kind, ...rule.identity.map((field) => fields[field])]);
  const published = Object.entries(fields).filter(([name, value]) => !WRITER.has(name) && value !== undefined);
  return { kind: rule.kind, cluster, at, detail: { id, cluster, message, ...Object.fromEntries(published) } };
}

/**
 * Whether the line is logged again at each try while its cause lasts; such an announcement need not be repeated each
 * time.
 */
export function isRecurring(kind: AnnouncementKind): boolean {
  return kind === "Pod Unschedulable" || kind === "NodeClaim Launch Failed";
}
