import { expect, it } from "vitest";
import { DOCUMENT, workedExample } from "./document.ts";

it("docs/how-a-plan-is-found.md is what `npm run -s verify -- worked-example` writes now", async () => {
  await expect(workedExample()).toMatchFileSnapshot(DOCUMENT);
});

it("each step of the worked example improves on the one before it", () => {
  const text = workedExample();
  const price = (label: string): number => Number(new RegExp(`${label}.*?\\$([0-9.]+)`).exec(text)?.[1]);
  const [firstFit, addedPrice, packed, ruined] = [
    "first fit \\(",
    "\\| least added price",
    "lowers the price from",
    "lowers the price from \\S+ to",
  ].map(price);
  expect(addedPrice).toBeLessThan(firstFit ?? 0);
  expect(ruined).toBeLessThan(packed ?? 0);
  expect(ruined).toBeLessThan(addedPrice ?? 0);
});
