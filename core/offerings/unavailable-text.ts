import { listed } from "../lib/listed.ts";
import { rfc3339 } from "../model/conditions.ts";
import type { Offering } from "../model/instance-type.ts";
import { kindOfError, remedyFor, saidText } from "./ec2-errors.ts";

/** An instance type with offerings that have `unavailableUntil`. */
export interface UnavailableType {
  readonly name: string;
  readonly offerings: readonly Offering[];
}

interface Lack {
  readonly text: string;
  readonly remedy: string;
}

/** When the first of the offerings is tried again, ms since the epoch; undefined without types. */
export function retriedAt(types: readonly UnavailableType[]): number | undefined {
  const times = types.flatMap(({ offerings }) => offerings.flatMap(({ unavailableUntil }) => unavailableUntil ?? []));
  return times.length === 0 ? undefined : times.reduce((a, b) => Math.min(a, b));
}

/**
 * Why types that fit cannot be launched for now, when they are tried again, and what to do meanwhile: "m5.large fits,
 * but there is no spot or on-demand capacity for it in us-west-2a (EC2 says InsufficientInstanceCapacity); it is tried
 * again from 2026-01-01T12:03:00Z; allow more types, zones or capacity types to be served sooner".
 */
export function unavailableText(types: readonly UnavailableType[]): string {
  const byCode = Map.groupBy(
    types.flatMap(({ name, offerings }) => offerings.map((offering) => ({ name, offering }))),
    ({ offering }) => offering.unavailableCause?.code ?? "",
  );
  const lacks = [...byCode.values()].map(lackOf);
  const [fit, it, is] = types.length === 1 ? ["fits", "it", "it is"] : ["fit", "them", "they are"];
  const whys = lacks.map(({ text }) => text.replace("{it}", it)).join(", and ");
  const remedies = [...new Set(lacks.map(({ remedy }) => remedy))].filter((remedy) => remedy !== "");
  const again = `${is} tried again from ${rfc3339(retriedAt(types) ?? 0)}`;
  return [
    `${listed(
      types.map(({ name }) => name),
      3,
    )} ${fit}, but ${whys}`,
    again,
    ...remedies,
  ].join("; ");
}

const MORE = "allow more types, zones or capacity types to be served sooner";

/** For offerings that are unavailable for one code. */
function lackOf(marked: readonly { readonly name: string; readonly offering: Offering }[]): Lack {
  const [first] = marked;
  const said = first?.offering.unavailableCause;
  const zones = [...new Set(marked.map(({ offering }) => offering.zone))].sort();
  const kinds = [...new Set(marked.map(({ offering }) => offering.capacityType))].sort().reverse();
  const where = `in ${listed(zones, 4)}`;
  if (said === undefined) return { text: `launches of {it} (${kinds.join(", ")}) have just failed ${where}`, remedy: MORE };
  if (said.code === "ZonalShift" || said.code === "Interruption") return { text: said.message, remedy: MORE };
  const subject = { instanceType: first?.name, zone: zones[0], capacityType: kinds[0] };
  const remedy = remedyFor(said, subject);
  return kindOfError(said) === "capacity"
    ? { text: `there is no ${kinds.join(" or ")} capacity for {it} ${where} (EC2 says ${said.code})`, remedy }
    : { text: `${saidText(said)} (${kinds.join(" and ")} ${where})`, remedy };
}
