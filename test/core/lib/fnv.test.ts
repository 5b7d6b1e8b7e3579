import fc from "fast-check";
import { expect, it } from "vitest";
import { fnv1, fnv1a, utf8 } from "#core/lib/fnv.ts";

// From the test vectors of the FNV authors (draft-eastlake-fnv, section 5 and appendix).
it.for([
  { text: "", one: 0xcbf29ce484222325n, oneA: 0xcbf29ce484222325n },
  { text: "a", one: 0xaf63bd4c8601b7ben, oneA: 0xaf63dc4c8601ec8cn },
  { text: "foobar", one: 0x340d8765a4dda9c2n, oneA: 0x85944171f73967e8n },
])('the hashes of "$text" are those of the authors', ({ text, one, oneA }) => {
  expect({ one: fnv1(utf8(text)), oneA: fnv1a(utf8(text)) }).toEqual({ one, oneA });
});

/** The definition, with numbers of any size. */
const defined = (bytes: readonly number[], isA: boolean): bigint =>
  bytes.reduce((hash, byte) => {
    const mixed = isA ? hash ^ BigInt(byte) : hash;
    const product = BigInt.asUintN(64, mixed * 0x100000001b3n);
    return isA ? product : product ^ BigInt(byte);
  }, 0xcbf29ce484222325n);

it("the hashes of any bytes are those of the definition", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(255), { maxLength: 80 }), (bytes) => {
      expect([fnv1(bytes), fnv1a(bytes)]).toEqual([defined(bytes, false), defined(bytes, true)]);
    }),
  );
});

it("utf8 gives the bytes of an encoder for any text, also for half of a surrogate pair", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }), (text) => {
      expect(utf8(text)).toEqual([...new TextEncoder().encode(text)]);
    }),
  );
  expect(utf8("😀")).toEqual([0xf0, 0x9f, 0x98, 0x80]);
});
