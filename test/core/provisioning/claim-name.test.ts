import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { claimName, unusedNames } from "#core/provisioning/claim-name.ts";

it("a NodeClaim is named after its NodePool, equally for equal seeds", () => {
  expect(claimName("default", "0123456789abcdef")).toMatch(/^default-[0-9a-z]{5}$/);
  expect(claimName("default", "0123456789abcdef")).toBe(claimName("default", "0123456789abcdef"));
});

it("no two of 30,000 new NodeClaims have one name, and none has that of another NodeClaim", () => {
  const seeds = Array.from({ length: 30_000 }, (_, i) => createHash("md5").update(`${i}`).digest("hex"));
  const own = seeds.map((seed) => claimName("default", seed));
  const taken = own.slice(0, 5_000);
  const nameOf = unusedNames(taken);
  const given = seeds.map((seed) => nameOf("default", seed));
  // Otherwise this test would show nothing.
  expect(new Set(own).size).toBeLessThan(own.length);
  expect(new Set([...taken, ...given]).size).toBe(new Set(taken).size + given.length);
});

it("a seed's own name is given wherever it is free", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string(), { maxLength: 20 }), (seeds) => {
      const nameOf = unusedNames([]);
      expect(seeds.map((seed) => nameOf("default", seed))).toEqual(seeds.map((seed) => claimName("default", seed)));
    }),
  );
});
