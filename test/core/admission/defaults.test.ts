import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withDefaults } from "#core/admission/defaults.ts";
import { additions, type PatchStep } from "#core/admission/json-patch.ts";
import type { JsonObject } from "#core/lib/json.ts";
import { nodeClass, nodePool } from "../../infra/crd-samples.ts";

/** Applies a patch as the API server does: a step adds or replaces one field of a map or one item of a list. */
function patched(object: unknown, steps: readonly PatchStep[]): unknown {
  let result = structuredClone(object);
  for (const { path, value } of steps) {
    const keys = path
      .split("/")
      .slice(1)
      .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = keys.pop();
    if (last === undefined) {
      result = value;
      continue;
    }
    let place = result as Record<string, unknown>;
    for (const key of keys) place = place[key] as Record<string, unknown>;
    place[last] = value;
  }
  return result;
}

const stepsOf = (object: object) => additions(object, withDefaults(object as JsonObject)).map(({ path, value }) => [path, value]);

describe("withDefaults", () => {
  it.for([
    {
      name: "all defaults of a NodePool",
      object: nodePool({}),
      want: [
        ["/spec/template/spec/expireAfter", "720h"],
        ["/spec/disruption", { consolidateAfter: "0s", consolidationPolicy: "WhenEmptyOrUnderutilized", budgets: [{ nodes: "10%" }] }],
      ],
    },
    {
      name: "consolidateAfter of a disruption block without it",
      object: nodePool({ template: { expireAfter: "Never" }, spec: { disruption: { consolidationPolicy: "WhenEmpty", budgets: [] } } }),
      want: [["/spec/disruption/consolidateAfter", "0s"]],
    },
    {
      name: "the nodes of a budget that has only a schedule",
      object: nodePool({
        template: { expireAfter: null },
        spec: {
          disruption: {
            consolidateAfter: "1m",
            consolidationPolicy: "WhenEmpty",
            budgets: [{ nodes: "1" }, { schedule: "@daily", duration: "1h" }],
          },
        },
      }),
      want: [
        ["/spec/template/spec/expireAfter", "720h"],
        ["/spec/disruption/budgets/1/nodes", "10%"],
      ],
    },
    {
      name: "metadata options of an EC2NodeClass, but not what follows from its alias",
      object: nodeClass({ metadataOptions: { httpTokens: "optional", httpPutResponseHopLimit: null } }),
      want: [
        ["/spec/metadataOptions/httpPutResponseHopLimit", 1],
        ["/spec/metadataOptions/httpEndpoint", "enabled"],
        ["/spec/metadataOptions/httpProtocolIPv6", "disabled"],
      ],
    },
    { name: "nothing in an object without a spec", object: { kind: "NodePool", spec: "?" }, want: [] },
    { name: "nothing in fields of an unexpected shape", object: { kind: "NodePool", spec: { template: [], disruption: 3 } }, want: [] },
    { name: "nothing in objects of other kinds", object: { kind: "NodeClaim", spec: {} }, want: [] },
  ])("withDefaults fills in $name", ({ object, want }) => {
    expect(stepsOf(object)).toEqual(want);
  });

  it("withDefaults returns an object that has all defaults unchanged", () => {
    for (const object of [nodePool({}), nodeClass({})] as readonly JsonObject[]) expect(stepsOf(withDefaults(object))).toEqual([]);
  });
});

/** The value without the keys that `keeps` rejects. */
function thinned(value: unknown, keeps: Iterator<boolean>): unknown {
  if (Array.isArray(value)) return value.map((item) => thinned(item, keeps));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([key, inner]) => (keeps.next().value ? [[key, thinned(inner, keeps)]] : [])));
}

describe("additions", () => {
  it("additions turn an object into one with more fields, whatever the keys", () => {
    const key = fc.string({ unit: fc.constantFrom("a", "b", "/", "~", "0", "1"), maxLength: 4 });
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.integer(),
        fc.constant(null),
        fc.array(tie("tree"), { maxLength: 3 }),
        fc.dictionary(key, tie("tree")),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(key, tree), fc.infiniteStream(fc.boolean()), (after, keeps) => {
        const before = thinned(after, keeps);
        expect(patched(before, additions(before, after))).toEqual(after);
      }),
    );
  });
});
