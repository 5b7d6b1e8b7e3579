import type { TableFaults } from "#adapters/store/table-embedded.ts";
import type { Sleep } from "#adapters/store/table-requests.ts";
import type { VirtualClock } from "#lab/world/clock.ts";
import { currentInvocation, never } from "#lab/world/invocation.ts";
import type { Random } from "#lab/world/random.ts";
import type { Fault } from "../script.ts";

type BusyTable = Extract<Fault, { what: "busy table" }>;
type LateIndex = Extract<Fault, { what: "late index" }>;

export interface DrawnTableFaults extends TableFaults {
  begin(fault: BusyTable | LateIndex, until: number): void;
  /** Ends both. */
  stop(): void;
}

/** Bytes of a page while the table is busy, so that a list has several. */
const PAGE_BYTES = 8_000;
/** No fault. */
const NEVER = Number.NEGATIVE_INFINITY;

/**
 * How the table answers the functions while a fault lasts: as DynamoDB may at any time. What the simulation itself
 * reads and writes, outside of all invocations, is never hit.
 */
export function tableFaults(now: () => number, random: Random, hit: (what: string, fn: string) => void): DrawnTableFaults {
  let busy = { rate: 0, staleMs: 0, until: NEVER };
  let index = { ms: 0, until: NEVER };
  const isBusy = (): boolean => busy.until > now() && currentInvocation() !== undefined;
  const drawn = (what: string) => (): boolean => {
    const isHit = isBusy() && random.next() < busy.rate;
    if (isHit) hit(what, currentInvocation()?.name ?? "");
    return isHit;
  };
  return {
    isConflicting: drawn("table conflicts"),
    isUnprocessed: drawn("table leaves work over"),
    staleMs: () => (isBusy() ? random.between(0, busy.staleMs) : 0),
    pageBytes: () => (isBusy() ? PAGE_BYTES : undefined),
    indexLagMs: () => (index.until > now() && currentInvocation() !== undefined ? index.ms : 0),
    onLateIndex: () => hit("index late", currentInvocation()?.name ?? ""),
    begin(fault, until) {
      if (fault.what === "busy table") busy = { ...fault, until };
      else index = { ms: fault.ms, until };
    },
    stop() {
      busy = { ...busy, until: NEVER };
      index = { ...index, until: NEVER };
    },
  };
}

/** How an invocation waits before it repeats a request: one that is killed meanwhile sends nothing more. */
export const sleepIn =
  (clock: () => VirtualClock): Sleep =>
  async (ms) => {
    await clock().sleep(ms);
    if (currentInvocation()?.killed) await never();
  };
