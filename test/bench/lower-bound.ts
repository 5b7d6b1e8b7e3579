import type { Snapshot } from "../../core/model/snapshot.ts";
import { has } from "../../core/requirements/requirement.ts";
import type { Requirements } from "../../core/requirements/requirements.ts";
import { hasBit } from "../../core/scheduling/bitset.ts";
import { nodeViews } from "../../core/scheduling/node-view.ts";
import { pendingPods } from "../../core/scheduling/pending-pods.ts";
import { worldOf } from "../../core/scheduling/world.ts";

/** Ways to buy that the same kinds of pods may use: rows of room by resource, each for one USD an hour. */
interface Cell {
  readonly rooms: readonly Float64Array[];
  /** Worth of a unit of each resource; scaled so that no row's room is worth more than it costs. */
  worth: Float64Array;
}

/** Pods that may use the same cells and ask for the same. */
interface Demand {
  readonly pods: number;
  readonly vector: Float64Array;
  readonly cells: readonly number[];
}

const FACTORS = [4, 0.25, 1.6, 0.625, 1.15, 0.87, 1.03, 0.97, 0];
const ROUNDS = 6;

/**
 * A price (USD per hour) that no plan for the pending pods can go below, pods and machines being divisible at will and topology left out.
 *
 * Dual of the covering problem: give each resource a worth such that no machine's room is worth more than the machine costs; then pods cost at least
 * what they ask for is worth. Machines that the same pods may use form a cell with a worth of its own, and a pod counts at the least of
 * the cells that it may use. Any such worth is valid; a search by coordinates raises it. Pods that fit nowhere count nothing.
 */
export function lowerBound(snapshot: Snapshot): number {
  const { pods } = pendingPods(snapshot);
  const world = worldOf(snapshot, nodeViews(snapshot), pods, {
    policy: "Respect",
    minValuesPolicy: "Strict",
    reservedMode: "strict",
    excludeNodes: new Set(),
    settling: new Set(),
    moved: new Set(),
  });
  const width = world.axis.names.length;
  // The last shape wants least: a plan may come to it.
  const wants = world.classes.flatMap(({ index, pods: alike }) => {
    const ask = world.asks[index]?.at(-1);
    return ask === undefined || ask.contradiction !== undefined ? [] : [{ ask, pods: alike.length }];
  });
  const extended = world.axis.names.flatMap((name, r) => (["cpu", "memory", "pods"].includes(name) ? [] : [r]));
  const kindOf = ({ ask }: (typeof wants)[number]): string => `${ask.set.id}:${extended.filter((r) => (ask.vector[r] ?? 0) > 0).join()}`;
  const kinds = [...new Map(wants.map((want) => [kindOf(want), want.ask])).entries()];

  const cells: (Cell & { readonly kinds: readonly string[]; rooms: Float64Array[] })[] = [];
  const bySignature = new Map<string, number>();
  for (const template of world.templates) {
    const views = kinds.flatMap(([kind, ask]) => {
      const joined = world.sets.join(template.set, ask.set);
      const needed = extended.filter((r) => (ask.vector[r] ?? 0) > 0);
      return joined === undefined ? [] : [{ kind, admitted: template.table.admitted(joined), set: joined.requirements, needed }];
    });
    template.table.types.forEach(({ offerings }, t) => {
      if (!hasBit(template.types, t)) return;
      const room = template.room.subarray(t * width, (t + 1) * width);
      const fitting = views.filter(({ admitted, needed }) => hasBit(admitted, t) && needed.every((r) => (room[r] ?? 0) > 0));
      for (const offering of offerings) {
        if (!offering.available || offering.price <= 0) continue;
        const served = fitting.filter(({ set }) => allows(set, offering)).map(({ kind }) => kind);
        if (served.length === 0) continue;
        const signature = served.join("|");
        const index = bySignature.get(signature) ?? cells.push({ kinds: served, rooms: [], worth: new Float64Array(width) }) - 1;
        bySignature.set(signature, index);
        cells[index]?.rooms.push(Float64Array.from(room, (amount) => Math.max(0, amount) / offering.price));
      }
    });
  }
  for (const cell of cells) cell.rooms = undominated(cell.rooms);
  const folded = new Map<string, { pods: number; vector: Float64Array; cells: readonly number[] }>();
  for (const want of wants) {
    const kind = kindOf(want);
    const key = `${kind}/${want.ask.vector.join()}`;
    const known = folded.get(key);
    const usable = (): number[] => cells.flatMap((cell, c) => (cell.kinds.includes(kind) ? [c] : []));
    if (known === undefined) folded.set(key, { pods: want.pods, vector: want.ask.vector, cells: usable() });
    else known.pods += want.pods;
  }
  return ascend(
    cells,
    [...folded.values()].filter(({ cells: usable }) => usable.length > 0),
    width,
  );
}

function allows(set: Requirements, offering: { readonly zone: string; readonly capacityType: string }): boolean {
  const zone = set.get("topology.kubernetes.io/zone");
  const capacityType = set.get("karpenter.sh/capacity-type");
  return (zone === undefined || has(zone, offering.zone)) && (capacityType === undefined || has(capacityType, offering.capacityType));
}

/** Rows that no other row equals or outdoes: the others constrain nothing. */
function undominated(rows: readonly Float64Array[]): Float64Array[] {
  const kept: Float64Array[] = [];
  const sum = (row: Float64Array): number => row.reduce((total, amount) => total + amount, 0);
  for (const row of [...rows].sort((a, b) => sum(b) - sum(a))) {
    if (!kept.some((other) => row.every((amount, r) => amount <= (other[r] ?? 0)))) kept.push(row);
  }
  return kept;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let r = 0; r < a.length; r++) sum += (a[r] ?? 0) * (b[r] ?? 0);
  return sum;
}

/** The worth scaled up or down until the best row is worth exactly its price. */
function scaled(worth: Float64Array, rooms: readonly Float64Array[]): Float64Array {
  const most = rooms.reduce((highest, room) => Math.max(highest, dot(worth, room)), 0);
  return most > 0 ? worth.map((value) => value / most) : worth;
}

function ascend(cells: readonly Cell[], demands: readonly Demand[], width: number): number {
  const total = (): number =>
    demands.reduce((sum, { pods, vector, cells: usable }) => {
      let least = Number.POSITIVE_INFINITY;
      for (const c of usable) least = Math.min(least, dot(cells[c]?.worth ?? vector, vector));
      return sum + pods * least;
    }, 0);
  const asked = new Float64Array(width);
  for (const { pods, vector } of demands) {
    for (let r = 0; r < width; r++) asked[r] = (asked[r] ?? 0) + pods * (vector[r] ?? 0);
  }
  for (const cell of cells)
    cell.worth = scaled(
      asked.map((amount) => (amount > 0 ? 1 / amount : 0)),
      cell.rooms,
    );
  // All cells together, then those of one kind of pod, then one by one: cells that a pod may choose between must rise together.
  const all = cells.map((_, c) => c);
  const byKind = [...new Map(demands.map(({ cells: usable }) => [usable.join(), usable])).values()];
  const blocks = [all, ...byKind, ...all.map((c) => [c])];
  let best = total();
  for (let round = 0; round < ROUNDS; round++) {
    const before = best;
    for (const block of blocks) {
      for (let r = 0; r < width; r++) {
        for (const factor of FACTORS) {
          const kept = block.map((c) => cells[c]?.worth ?? asked);
          for (const c of block) {
            const cell = cells[c];
            if (cell !== undefined)
              cell.worth = scaled(
                cell.worth.map((value, i) => (i === r ? value * factor : value)),
                cell.rooms,
              );
          }
          const now = total();
          if (now > best) best = now;
          else {
            for (const [i, c] of block.entries()) {
              const cell = cells[c];
              if (cell !== undefined) cell.worth = kept[i] ?? asked;
            }
          }
        }
      }
    }
    if (best - before < 1e-4 * best) break;
  }
  return best;
}
