import { type MachineFigures, Machines, type PriceOf } from "./machines.ts";
import { type PodFigures, Pods } from "./pods.ts";
import { Room, type Shares } from "./room.ts";
import type { Trace } from "./trace.ts";

/** What a cluster cost and what its pods went through. */
export interface Figures extends MachineFigures, PodFigures {
  /** ms. */
  readonly span: number;
  /** Share of the CPU and of the memory of the nodes that pods asked for, over time. */
  readonly asked: Shares;
}

/** The figures of the part of a trace from `from` on, ms since the epoch. */
export function figuresOf({ header, entries }: Trace, priceOf: PriceOf, from: number): Figures {
  const { autoscaler } = header;
  const end = Math.max(from, entries.at(-1)?.at ?? from);
  const machines = new Machines(priceOf, autoscaler);
  const pods = new Pods(from);
  const room = new Room(autoscaler);
  let before = from;
  for (const entry of entries) {
    // What the entry before found lasted until now.
    room.lasted(Math.max(0, entry.at - before));
    before = Math.max(before, entry.at);
    machines.take(entry);
    pods.take(entry, entry === entries[0]);
    room.take(entry);
  }
  return { span: end - from, ...machines.figures(from, end), ...pods.figures(end), asked: room.asked() };
}
