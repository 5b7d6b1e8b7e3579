import { ownValue } from "../../lib/own-value.ts";
import type { Resources } from "../../model/quantity.ts";

export interface ResourceUse {
  readonly name: string;
  /** 1 is all of the room. */
  readonly share: number;
}

/** Which part of the room each resource takes that is used, the tightest first. */
export function sharesOf(used: Resources, room: Resources): readonly ResourceUse[] {
  return Object.keys(used)
    .filter((name) => (ownValue(used, name) ?? 0) > 0)
    .map((name) => ({ name, share: (ownValue(used, name) ?? 0) / Math.max(1, ownValue(room, name) ?? 0) }))
    .sort((a, b) => b.share - a.share || (a.name < b.name ? -1 : 1));
}
