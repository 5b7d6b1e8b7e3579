import { eventOf, LOG_EVENTS, type LogEvents, type LogMessage } from "#core/announcements/log-events.ts";
import { perHour } from "#core/model/prices.ts";
import type { LogFields } from "#core/ports/log.ts";
import { counted } from "#core/scheduling/reasons/words.ts";
import type { TimelineEntry } from "./render.ts";

/** A log line of a handler, with its virtual time. */
export interface LoggedLine {
  /** ms since the epoch. */
  readonly at: number;
  readonly level: "debug" | "info" | "error";
  readonly message: string;
  readonly fields: LogFields;
}

/** A log line as a line of the story. Undefined for debug lines, which are for debugging only. */
export function entryOf({ at, level, message, fields }: LoggedLine, pricePerHour?: number): TimelineEntry | undefined {
  if (level === "debug") return undefined;
  const { what = message, why } = wording(message, fields);
  return {
    at,
    what,
    which: subject(message, fields),
    ...(why !== "" && { why }),
    ...(pricePerHour !== undefined && { pricePerHour }),
    ...(level === "error" && { isError: true }),
  };
}

const text = (value: unknown): string =>
  value === undefined || value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
const named = (value: unknown): string =>
  typeof value === "object" && value !== null ? text((value as { readonly name?: unknown }).name) : text(value);
const join = (...parts: readonly string[]): string => parts.filter((part) => part !== "").join(" ");

const SUBJECTS = ["NodeClaim", "Node", "Pod", "Pods", "NodePool", "EC2NodeClass", "NodeOverlay"];

/**
 * The subject of the line, by the field names of Karpenter's log lines; a line about a node shows the name of the node,
 * not of its claim.
 */
function subject(message: string, fields: LogFields): string {
  const event = eventOf(message);
  const isAboutNode = event !== undefined && LOG_EVENTS[event].aboutNode === true;
  for (const key of [...(isAboutNode ? ["Node"] : []), ...SUBJECTS]) {
    const name = named(fields[key]);
    if (name !== "") return name;
  }
  return "";
}

interface Wording {
  /** The message in short; the message itself when absent. */
  readonly what?: string;
  /** The fields that say why or which way. */
  readonly why: string;
}

type Words<M extends LogMessage> = (fields: Partial<LogEvents[M]>, message: string) => Wording;

const replicas: Words<"provisioning nodeclaims to satisfy replica count" | "deprovisioning nodeclaims to satisfy replica count"> = (
  { current, desired },
  message,
) => ({ what: message.replace(" to satisfy replica count", ""), why: `has ${text(current)}, wants ${text(desired)}` });

/** Events whose fields deserve words of their own. */
const WORDS: { readonly [M in LogMessage]?: Words<M> } = {
  "disrupting nodeclaim(s)"({ reason, "pod-count": pods = 0, "savings-per-hour": saves = 0 }, message) {
    const [, what = message, via = ""] = /^(disrupting \S+) (via .*)$/.exec(message) ?? [];
    const how = join(via, bracketed(reason));
    if (pods === 0) return { what, why: how };
    const money = saves > 0 ? ` to save ${perHour(saves)}` : "";
    return { what, why: `${how}; moves ${counted(pods, "pod")}${money}` };
  },
  "created nodeclaim": ({ NodePool, requests, "instance-types": types }) => ({
    why: join(`for ${named(NodePool)}`, bracketed(amounts(requests)), text(types)),
  }),
  "launched nodeclaim": ({ "instance-type": type, "capacity-type": capacityType, zone, allocatable }) => ({
    why: join(text(type), text(capacityType), text(zone), bracketed(amounts(allocatable))),
  }),
  "registered nodeclaim": ({ Node }) => ({ why: join("as", named(Node)) }),
  "initialized nodeclaim": ({ allocatable }) => ({ why: bracketed(amounts(allocatable)) }),
  "tainted node": ({ "taint.Key": key, "taint.Effect": effect }) => ({ why: `${text(key)}:${text(effect)}` }),
  "initiating delete from interruption message": ({ messageKind, "instance-type": type }) => ({
    what: "interrupted nodeclaim",
    why: join(text(messageKind).replaceAll("_", " "), bracketed(text(type))),
  }),
  "provisioning nodeclaims to satisfy replica count": replicas,
  "deprovisioning nodeclaims to satisfy replica count": replicas,
  "deleting unhealthy node": ({ condition }) => ({ why: `${text(condition)} for too long` }),
};

function wording(message: string, fields: LogFields): Wording {
  const event = eventOf(message);
  // The row of a message takes the fields of that message.
  const words = event && (WORDS[event] as ((fields: LogFields, message: string) => Wording) | undefined);
  return words?.(fields, message) ?? { why: join(text(fields["error"]), bracketed(text(fields["reason"])), counts(fields)) };
}

const bracketed = (value: unknown): string => (text(value) === "" ? "" : `(${text(value)})`);

function counts(fields: LogFields): string {
  return ["nodeclaims", "nodes", "pods"].flatMap((key) => (typeof fields[key] === "number" ? [`${key}: ${fields[key]}`] : [])).join(", ");
}

/** "cpu 1930m, memory 6903Mi, pods 29". Disks are left out because they are all alike. */
function amounts(list: unknown): string {
  if (typeof list !== "object" || list === null) return "";
  return Object.entries(list)
    .filter(([name]) => name !== "ephemeral-storage" && !name.startsWith("hugepages"))
    .map(([name, quantity]) => `${name.replace("vpc.amazonaws.com/", "")} ${text(quantity)}`)
    .join(", ");
}
