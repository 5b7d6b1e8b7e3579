import { expect, it } from "vitest";
import { ODD_EVENTS } from "../support/effort.ts";
import { SOURCES, wrongWithOddEvents } from "./odd-events.ts";

it.for(Object.keys(SOURCES))("%s drops events of odd shapes, throws nothing and hands none back", { timeout: 120_000 }, async (source) => {
  expect(await wrongWithOddEvents(1, ODD_EVENTS, [source])).toEqual([]);
});
