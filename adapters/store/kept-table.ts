import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";

/** The name of the lab's cluster. */
export const LAB_CLUSTER = "lab";

const CLOCK = "lab/clock";

/** Writes into the lab's table when the lab ended (ms), so that a command that reads the file later knows its "now". */
export async function keepClock(store: Pick<NodeClaimStore, "putDocument">, now: number): Promise<void> {
  await store.putDocument(CLOCK, new Uint8Array(), String(now));
}

/** When the lab ended, ms; undefined for a table of no lab, or of one that was interrupted. */
export async function clockOf(store: Pick<NodeClaimStore, "documentVersion">): Promise<number | undefined> {
  const text = await store.documentVersion(CLOCK);
  return text === undefined ? undefined : Number(text);
}
