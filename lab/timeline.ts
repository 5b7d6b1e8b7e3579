import type { LogFields } from "../core/ports/log.ts";
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
  const { what, why } = wording(message, fields);
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

const SUBJECTS = ["NodeClaim", "Node", "Pod", "Pods", "NodePool", "EC2NodeClass", "NodeOverlay"];

/**
 * The subject of the line, by the field names of Karpenter's log lines; a line about a node shows the name of the node,
 * not of its claim.
 */
function subject(message: string, fields: LogFields): string {
  for (const key of [...(message.endsWith(" node") ? ["Node"] : []), ...SUBJECTS]) {
    const name = named(fields[key]);
    if (name !== "") return name;
  }
  return "";
}

/** The message in short, with the fields that explain it. */
function wording(message: string, fields: LogFields): { readonly what: string; readonly why: string } {
  const join = (...parts: readonly string[]): string => parts.filter((p) => p !== "").join(" ");
  const disrupting = /^(disrupting \S+) (via .*)$/.exec(message);
  if (disrupting?.[1] !== undefined) return { what: disrupting[1], why: join(disrupting[2] ?? "", bracketed(fields["reason"])) };
  switch (message) {
    case "created nodeclaim":
      return {
        what: message,
        why: join(`for ${named(fields["NodePool"])}`, bracketed(amounts(fields["requests"])), text(fields["instance-types"])),
      };
    case "launched nodeclaim":
      return {
        what: message,
        why: join(
          text(fields["instance-type"]),
          text(fields["capacity-type"]),
          text(fields["zone"]),
          bracketed(amounts(fields["allocatable"])),
        ),
      };
    case "registered nodeclaim":
      return { what: message, why: join("as", named(fields["Node"])) };
    case "initialized nodeclaim":
      return { what: message, why: bracketed(amounts(fields["allocatable"])) };
    case "tainted node":
      return { what: message, why: `${text(fields["taint.Key"])}:${text(fields["taint.Effect"])}` };
    case "initiating delete from interruption message":
      return {
        what: "interrupted nodeclaim",
        why: join(text(fields["messageKind"]).replaceAll("_", " "), bracketed(text(fields["instance-type"]))),
      };
    case "provisioning nodeclaims to satisfy replica count":
    case "deprovisioning nodeclaims to satisfy replica count":
      return {
        what: message.replace(" to satisfy replica count", ""),
        why: `has ${text(fields["current"])}, wants ${text(fields["desired"])}`,
      };
    case "deleting unhealthy node":
      return { what: message, why: `${text(fields["condition"])} for too long` };
    default: {
      const why = join(text(fields["error"]), bracketed(text(fields["reason"])), counts(fields));
      return { what: message, why };
    }
  }
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
