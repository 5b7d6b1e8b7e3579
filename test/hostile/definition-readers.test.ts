import { expect, it } from "vitest";
import { headroomOf } from "#core/capacity-buffers/headroom.ts";
import type { JsonObject } from "#core/lib/json.ts";
import type { CapacityBuffer } from "#core/model/capacity-buffer.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { NodeOverlay } from "#core/model/node-overlay.ts";
import { applyOverlays } from "#core/node-overlay/apply.ts";
import { instanceTypesOf } from "#core/offerings/instance-types.ts";
import { withoutUnreadable } from "#core/set-aside/set-aside.ts";
import { CATALOGUE } from "../simulation/story.ts";
import { podTemplate } from "../support/buffers.ts";
import * as objects from "../support/objects.ts";
import { FULL_DEFINITIONS } from "./full-definitions.ts";
import { variantsOf } from "./variants.ts";

const EMPTY = { pods: [], nodes: [], nodeClaims: [], nodePools: [], nodeClasses: [], daemonSets: [] };
const POOL = objects.nodePool("default", { uid: "p" });
const SETTINGS = { vmMemoryOverheadPercent: 0.075, reservedEnis: 0 };
const TYPES = new Map([
  ["default", [objects.instanceType("large", { capacity: { cpu: "2", memory: "4Gi" }, offerings: objects.offerings(["a"], 1) })]],
]);
const NOTHING = { deployments: [], statefulSets: [], replicaSets: [] };

/** Reads definitions of one kind as a pass does. */
const READERS: Readonly<Record<string, (definitions: readonly JsonObject[]) => void>> = {
  EC2NodeClass: (definitions) => {
    const { nodeClasses } = withoutUnreadable({ ...EMPTY, nodeClasses: definitions as unknown as readonly EC2NodeClass[] });
    for (const nodeClass of nodeClasses)
      instanceTypesOf({ catalogue: CATALOGUE, nodeClass, unavailable: [], settings: SETTINGS, held: new Map() });
  },
  NodeOverlay: (definitions) => {
    applyOverlays(definitions as unknown as readonly NodeOverlay[], [POOL], TYPES);
  },
  CapacityBuffer: (definitions) => {
    headroomOf(definitions as unknown as readonly CapacityBuffer[], { ...NOTHING, podTemplates: [podTemplate()] });
  },
};

it.for(FULL_DEFINITIONS)("no reading throws beside the $kind without one of its fields, or with an edge of its type", ({ kind, full }) => {
  const variants = variantsOf(full as JsonObject);
  const wrong = variants.flatMap(({ what, object }) => {
    try {
      READERS[kind]?.([object]);
      return [];
    } catch (error) {
      return [`${what}: ${(error as Error).message}`];
    }
  });
  expect(wrong).toEqual([]);
  expect(variants.length).toBeGreaterThan(5);
});

it("an EC2NodeClass without a known family or size of a volume is set aside and told", () => {
  const named = (name: string, spec: object) => ({ metadata: { name }, spec }) as unknown as EC2NodeClass;
  const sized = { blockDeviceMappings: [{ deviceName: "/dev/xvda", ebs: { volumeSize: "1e1.5" } }] };
  const list = [named("family", { amiFamily: "DOS" }), named("size", sized), named("good", { amiFamily: "AL2023" })];
  const { nodeClasses, setAside } = withoutUnreadable({ ...EMPTY, nodeClasses: list });
  expect(nodeClasses.map(({ metadata }) => metadata.name)).toEqual(["good"]);
  expect(setAside.map(({ metadata, message }) => `${metadata.name}: ${message}`)).toEqual([
    expect.stringMatching(
      /^family: EC2NodeClass cannot be read: spec.amiFamily: "DOS" is not known; use one of .*; no node is launched with it$/,
    ),
    expect.stringMatching(/^size: EC2NodeClass cannot be read: spec.blockDeviceMappings: volumeSize of \/dev\/xvda: quantity "1e1.5"/),
  ]);
});

it("a NodeOverlay without requirements is not applied, its status says why, and the others are", () => {
  const bad = { metadata: { name: "bad" }, spec: { price: "1" } } as unknown as NodeOverlay;
  const good = objects.nodeOverlay("good", { spec: { price: "0.5" } });
  const { verdicts } = applyOverlays([bad, good], [POOL], TYPES);
  expect(verdicts.get("bad")).toEqual({ outcome: "RuntimeValidation", problems: [expect.stringMatching(/^spec.requirements is no list/)] });
  expect(verdicts.get("good")).toMatchObject({ outcome: "Applied" });
});
