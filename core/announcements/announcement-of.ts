import { contentHash } from "../lib/fnv.ts";
import type { Announcement, AnnouncementKind } from "../ports/announcements.ts";
import type { LogFields } from "../ports/log.ts";

/** A line of the log, as it was written. */
export interface Line {
  readonly message: string;
  readonly fields: LogFields;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

interface Rule {
  readonly kind: AnnouncementKind;
  /** Fields that tell one such thing from another: they make the id. */
  readonly identity: readonly string[];
}

/** The lines that are announced, by message; of a disruption's, which goes on with the nodes' names, by its beginning. */
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

/** Which part of the program wrote the line, which is no part of what happened. */
const WRITER = new Set(["controller", "controllerGroup", "controllerKind", "namespace", "name", "cluster"]);

/** What a line announces, in the line's own words; undefined for lines that are only for those who look into the log. */
export function announcementOf({ message, fields, at }: Line, cluster: string): Announcement | undefined {
  const rule = RULES.get(message.replace(/ via .*$/s, ""));
  if (rule === undefined) return undefined;
  const id = contentHash([cluster, rule.kind, ...rule.identity.map((field) => fields[field])]);
  const told = Object.entries(fields).filter(([name, value]) => !WRITER.has(name) && value !== undefined);
  return { kind: rule.kind, cluster, at, detail: { id, cluster, message, ...Object.fromEntries(told) } };
}

/** What comes up again at each try for as long as it lasts, and need not be told each time. */
export function isRecurring(kind: AnnouncementKind): boolean {
  return kind === "Pod Unschedulable" || kind === "NodeClaim Launch Failed";
}
