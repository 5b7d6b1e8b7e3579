import { expect, it } from "vitest";
import { RECORD_SEEDS } from "../support/effort.ts";
import { wrongWithOddRecord } from "./odd-records.ts";

it.for(RECORD_SEEDS)(
  "a record that is changed at odd places hurts only its own NodeClaim or command: seed %i",
  { timeout: 60_000 },
  async (seed) => {
    expect(await wrongWithOddRecord(seed)).toBeUndefined();
  },
);
