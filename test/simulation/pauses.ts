import type { Pause, PauseScope } from "#core/model/pause.ts";
import type { Lab } from "#lab/host.ts";
import type { Act } from "./script.ts";

// Pauses by people, as they order and end them: the product's own words of a pause are not used here.

type Order = Extract<Act, { what: "pause" }>;

/** A pause as it was in force, ms since the epoch. */
interface Held {
  readonly by: Pause["source"];
  readonly only: PauseScope | undefined;
  readonly from: number;
  until: number;
}

const held = new WeakMap<Lab, Held[]>();

const heldIn = (lab: Lab): Held[] => {
  const all = held.get(lab) ?? [];
  held.set(lab, all);
  return all;
};

/** Since when the scope is held without a break at a time; undefined when it is not. */
export function heldSince(lab: Lab, scope: PauseScope, at: number): number | undefined {
  const inForce = heldIn(lab).filter(({ only, from, until }) => (only ?? scope) === scope && from <= at && at < until);
  return inForce.length === 0 ? undefined : Math.min(...inForce.map(({ from }) => from));
}

/** Whether anything was held at any time in [from, to]. */
export const wasHeldWithin = (lab: Lab, from: number, to: number): boolean =>
  heldIn(lab).some((one) => one.from <= to && one.until >= from);

const MINUTE_MS = 60_000;
const CONFIG_MAP = { name: "karpenter-serverless-pause", namespace: "kube-system" } as const;

/** Pauses the cluster, and ends it later. A further order of the same kind replaces the one before. */
export function hold(lab: Lab, { by, only, minutes, hasEnd }: Order): void {
  const { clock } = lab.world;
  const now = clock.now();
  end(lab, by);
  const until = now + minutes * MINUTE_MS;
  write(lab, by, { at: now, reason: "a story", ...(only && { only }), ...(hasEnd && { until }) });
  const one: Held = { by, only, from: now, until: hasEnd ? until : Number.POSITIVE_INFINITY };
  heldIn(lab).push(one);
  if (!hasEnd)
    clock.after(minutes * MINUTE_MS, "a person resumes", () => {
      if (one.until === Number.POSITIVE_INFINITY) end(lab, by);
    });
}

/** Ends all pauses, and what they were. */
export function endPauses(lab: Lab): void {
  if (heldIn(lab).length > 0) for (const by of ["table", "ConfigMap"] as const) end(lab, by);
}

function end(lab: Lab, by: Pause["source"]): void {
  const now = lab.world.clock.now();
  const own = heldIn(lab).filter((one) => one.by === by && one.until > now);
  if (own.length === 0) return;
  for (const one of own) one.until = now;
  write(lab, by, undefined);
}

interface Written {
  readonly at: number;
  readonly reason: string;
  readonly only?: PauseScope;
  readonly until?: number;
}

function write({ world, deps }: Lab, by: Pause["source"], pause: Written | undefined): void {
  if (by === "table") {
    const document = { pause: pause === undefined ? null : { source: "table", by: "a person", ...pause } };
    void deps.store.putDocument(`pause/${world.cluster}`, new TextEncoder().encode(JSON.stringify(document)), String(world.clock.now()));
  } else if (pause === undefined) world.delete("ConfigMap", CONFIG_MAP.name, CONFIG_MAP.namespace);
  else {
    const { only, until } = pause;
    const data = { ...(only && { only }), ...(until !== undefined && { until: new Date(until).toISOString() }) };
    world.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: CONFIG_MAP, data });
  }
}
