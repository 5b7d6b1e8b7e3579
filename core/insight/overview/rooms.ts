import { ownValue } from "../../lib/own-value.ts";
import type { Resources } from "../../model/quantity.ts";
import type { NodeResource } from "./types.ts";

/** Resources that each node shows, asked for or not. */
const ALWAYS = ["cpu", "memory", "pods"];

/** cpu, memory and pods, then what else is asked for, in plain units. */
export function roomsOf(requested: Resources, allocatable: Resources): readonly NodeResource[] {
  const others = Object.keys(requested)
    .filter((name) => !ALWAYS.includes(name) && (ownValue(requested, name) ?? 0) > 0)
    .sort();
  return [...ALWAYS, ...others].map((name) => ({
    name,
    requested: units(requested, name),
    allocatable: units(allocatable, name),
  }));
}

/** The amount of a resource: cores, bytes, pieces. Resources are in milli-units. */
export function units(resources: Resources, name: string): number {
  return (ownValue(resources, name) ?? 0) / 1000;
}
