import { expect, it } from "vitest";
import { FULL } from "../support/effort.ts";
import { SOURCES, wrongWithOddEvents } from "./odd-events.ts";

const EVENTS = FULL ? 2_000 : 100;

it.for(Object.keys(SOURCES))("%s drops events of odd shapes, throws nothing and hands none back", { timeout: 120_000 }, async (source) => {
  expect(await wrongWithOddEvents(1, EVENTS, [source])).toEqual([]);
});
