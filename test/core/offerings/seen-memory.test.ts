import { describe, expect, it } from "vitest";
import { bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import { parseQuantity } from "#core/model/quantity.ts";
import { instanceTypesOf } from "#core/offerings/instance-types.ts";
import { observeMemory, SEEN_MEMORY, seenMemory } from "#core/offerings/seen-memory.ts";

const DAY = 24 * 3_600_000;
const START = Date.parse("2026-11-21T12:00:00Z");
const GUESS_KI = 7577 * 1024;

function nodeClass(note?: string, ami = "ami-1"): EC2NodeClass {
  return {
    metadata: { name: "default", ...(note !== undefined && { annotations: { [SEEN_MEMORY]: note } }) },
    spec: { subnetSelectorTerms: [], securityGroupSelectorTerms: [], amiSelectorTerms: [{ alias: "al2023@latest" }] },
    status: { amis: [{ id: ami, requirements: [] }] },
  };
}

interface Machine {
  readonly memory: string;
  readonly imageID?: string;
  readonly registered?: boolean;
  readonly className?: string;
}

function seeing(before: EC2NodeClass, machines: readonly Machine[], now = START): string | undefined {
  const nodes = machines.map(
    ({ memory, registered = true }, i): Node => ({
      metadata: {
        name: `node-${i}`,
        labels: { "node.kubernetes.io/instance-type": "m5.large", ...(registered && { "karpenter.sh/registered": "true" }) },
      },
      spec: {},
      status: { capacity: { memory } },
    }),
  );
  const nodeClaims = machines.map(
    ({ imageID = "ami-1", className = "default" }, i): NodeClaim => ({
      metadata: { name: `claim-${i}` },
      spec: { requirements: [], nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: className } },
      status: { nodeName: `node-${i}`, imageID },
    }),
  );
  return observeMemory(before, { nodes, nodeClaims, guessMib: () => GUESS_KI / 1024, now });
}

const amount = (note: string | undefined) => seenMemory(nodeClass(note)).get("m5.large");
const noted = (memory: string, now = START) => nodeClass(seeing(nodeClass(), [{ memory }], now));

describe("observeMemory", () => {
  it.for<{ name: string; before: EC2NodeClass; machines: readonly Machine[]; want: string | undefined }>([
    { name: "less than the estimate", before: nodeClass(), machines: [{ memory: "7500000Ki" }], want: "7500000Ki" },
    { name: "more than the estimate", before: nodeClass(), machines: [{ memory: "7900000Ki" }], want: "7900000Ki" },
    { name: "nothing that equals the estimate", before: nodeClass(), machines: [{ memory: `${GUESS_KI}Ki` }], want: undefined },
    { name: "the least of several", before: nodeClass(), machines: [{ memory: "7900000Ki" }, { memory: "7800000Ki" }], want: "7800000Ki" },
    { name: "less than before", before: noted("7800000Ki"), machines: [{ memory: "7700000Ki" }], want: "7700000Ki" },
    { name: "a smaller amount from before", before: noted("7800000Ki"), machines: [{ memory: "7900000Ki" }], want: "7800000Ki" },
    { name: "no node of other images", before: nodeClass(), machines: [{ memory: "1Ki", imageID: "ami-0" }], want: undefined },
    { name: "no node that has not registered", before: nodeClass(), machines: [{ memory: "1Ki", registered: false }], want: undefined },
    { name: "no node of another class", before: nodeClass(), machines: [{ memory: "1Ki", className: "other" }], want: undefined },
    { name: "no amount in another format", before: nodeClass(), machines: [{ memory: "7.5Gi" }], want: undefined },
    { name: "an amount over what a person wrote", before: nodeClass("{}"), machines: [{ memory: "7800000Ki" }], want: "7800000Ki" },
  ])("observeMemory stores $name", ({ before, machines, want }) => {
    expect(amount(seeing(before, machines))).toBe(want);
  });

  it("an amount is kept for 60 days after it was last seen", () => {
    const first = noted("7800000Ki");
    const renewed = nodeClass(seeing(first, [{ memory: "7800000Ki" }], START + 30 * DAY));
    expect(amount(seeing(first, [], START + 59 * DAY))).toBe("7800000Ki");
    expect(seeing(first, [], START + 60 * DAY)).toBeUndefined();
    expect(amount(seeing(renewed, [], START + 89 * DAY))).toBe("7800000Ki");
  });

  it("the annotation is unchanged when nothing new was seen that day", () => {
    const first = noted("7800000Ki");
    expect(seeing(first, [{ memory: "7800000Ki" }], START + 3_600_000)).toBe(first.metadata.annotations?.[SEEN_MEMORY]);
  });
});

it("seen memory holds only for the images that it was seen with", () => {
  const note = noted("7800000Ki").metadata.annotations?.[SEEN_MEMORY];
  expect(seenMemory(nodeClass(note)).size).toBe(1);
  expect(seenMemory(nodeClass(note, "ami-2")).size).toBe(0);
});

it("seen memory replaces the estimated capacity and does not change the overhead", () => {
  const all = bundledCatalogue("us-west-2");
  const catalogue = { ...all, types: all.types.filter(({ name }) => name === "m5.large") };
  const settings = { vmMemoryOverheadPercent: 0.075, reservedEnis: 0 };
  const typeOf = (known: EC2NodeClass) => instanceTypesOf({ catalogue, nodeClass: known, unavailable: [], settings })[0];
  const [guessed, seen] = [typeOf(nodeClass()), typeOf(noted("7800000Ki"))];
  expect(parseQuantity(guessed?.capacity["memory"] ?? "")).toBe(parseQuantity(`${GUESS_KI}Ki`));
  expect(seen).toEqual({ ...guessed, capacity: { ...guessed?.capacity, memory: "7800000Ki" } });
});
