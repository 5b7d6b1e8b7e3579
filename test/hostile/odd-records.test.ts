import { expect, it } from "vitest";
import { FULL } from "../support/effort.ts";
import { wrongWithOddRecord } from "./odd-records.ts";

// Seeds of which each broke a rule when it was drawn first: odd replacements of a command, a time that no date can
// show, a NodeClaim without a manifest, and pods that waited for a NodeClaim that nobody took further.
const SEEDS = FULL ? Array.from({ length: 60 }, (_, i) => i + 1) : [3, 4, 22, 26, 30, 31];

it.for(SEEDS)(
  "a record that is changed at odd places hurts only its own NodeClaim or command: seed %i",
  { timeout: 60_000 },
  async (seed) => {
    expect(await wrongWithOddRecord(seed)).toBeUndefined();
  },
);
