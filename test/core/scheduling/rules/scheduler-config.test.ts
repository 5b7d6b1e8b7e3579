import { describe, expect, it } from "vitest";
import { readSchedulerConfig } from "#core/scheduling/rules/scheduler-config.ts";

const ZONE = { maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway" };
const config = (...defaultConstraints: readonly unknown[]) => ({ podTopologySpread: { defaultConstraints } });

describe("the scheduler's configuration", () => {
  it.for([
    { name: "nothing", value: {}, want: [] },
    { name: "no constraint", value: config(), want: [] },
    { name: "one constraint", value: config(ZONE), want: [ZONE] },
    {
      name: "one key with both values of whenUnsatisfiable",
      value: config(ZONE, { ...ZONE, whenUnsatisfiable: "DoNotSchedule" }),
      want: [ZONE, { ...ZONE, whenUnsatisfiable: "DoNotSchedule" }],
    },
    {
      name: "all fields of a constraint",
      value: config({ ...ZONE, minDomains: 2, nodeAffinityPolicy: "Ignore", nodeTaintsPolicy: "Honor" }),
      want: [{ ...ZONE, minDomains: 2, nodeAffinityPolicy: "Ignore", nodeTaintsPolicy: "Honor" }],
    },
  ])("the configuration may have $name", ({ value, want }) => {
    expect(readSchedulerConfig(value)).toEqual({ defaultConstraints: want });
  });

  it.for([
    { name: "text", value: "zone", says: "must be a map with podTopologySpread" },
    { name: "another plugin", value: { nodeResourcesFit: {} }, says: "nodeResourcesFit is not known; there is podTopologySpread" },
    { name: "a typing error", value: { podTopologySpraed: {} }, says: "podTopologySpraed is not known; did you mean podTopologySpread?" },
    {
      name: "defaultingType",
      value: { podTopologySpread: { defaultingType: "List" } },
      says: "podTopologySpread.defaultingType is not known",
    },
    {
      name: "a constraint instead of a list",
      value: { podTopologySpread: { defaultConstraints: ZONE } },
      says: "defaultConstraints must be a list",
    },
    { name: "a selector", value: config({ ...ZONE, labelSelector: {} }), says: "[0].labelSelector must be left out: it is deduced" },
    { name: "label keys", value: config({ ...ZONE, matchLabelKeys: ["a"] }), says: "[0].matchLabelKeys must be left out" },
    { name: "a maxSkew of 0", value: config({ ...ZONE, maxSkew: 0 }), says: "[0].maxSkew must be a whole number above 0, not 0" },
    {
      name: "a missing topologyKey",
      value: config(ZONE, { ...ZONE, topologyKey: undefined }),
      says: "[1].topologyKey must be a label key",
    },
    {
      name: "an invalid topologyKey",
      value: config({ ...ZONE, topologyKey: "a b" }),
      says: '[0].topologyKey must be a label key such as topology.kubernetes.io/zone, not "a b"',
    },
    {
      name: "an unknown whenUnsatisfiable",
      value: config({ ...ZONE, whenUnsatisfiable: "Sometimes" }),
      says: "DoNotSchedule or ScheduleAnyway",
    },
    {
      name: "an unknown policy",
      value: config({ ...ZONE, nodeTaintsPolicy: "Maybe" }),
      says: "[0].nodeTaintsPolicy must be Honor or Ignore",
    },
    {
      name: "two constraints of one key",
      value: config(ZONE, { ...ZONE, maxSkew: 3 }),
      says: "[1] is a second one for topology.kubernetes.io/zone and ScheduleAnyway",
    },
    { name: "an unknown field", value: config({ ...ZONE, maxskew: 2 }), says: "[0].maxskew is not known; did you mean maxSkew?" },
  ])("the configuration is refused for $name", ({ value, says }) => {
    expect(readSchedulerConfig(value)).toHaveProperty("problem", expect.stringContaining(says));
  });
});
