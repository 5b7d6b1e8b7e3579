import { describe, expect, it } from "vitest";
import { checkScenario } from "#cli/scenario/check.ts";
import { MIXES } from "./mix.ts";
import { generateScenario } from "./scenario.ts";

const some = Array.from({ length: 4 * Object.keys(MIXES).length }, (_, i) => generateScenario(7, i));
const text = JSON.stringify(some);

describe("generateScenario", () => {
  it("equal seeds and numbers give equal scenarios, and others give others", () => {
    expect(generateScenario(7, 3)).toEqual(some[3]);
    expect(new Set([...some, generateScenario(8, 3)].map((one) => JSON.stringify(one))).size).toBe(some.length + 1);
  });

  it("the generated scenarios are valid scenario files", () => {
    for (const scenario of some) expect(() => checkScenario(scenario)).not.toThrow();
  });

  it("no two objects of a kind have the same name", () => {
    for (const scenario of some) {
      for (const [kind, objects] of Object.entries(scenario)) {
        if (!Array.isArray(objects)) continue;
        const names = objects.map(({ name, metadata }) => name ?? `${metadata.namespace}/${metadata.name}`);
        expect({ kind, names: new Set(names).size }).toEqual({ kind, names: names.length });
      }
    }
  });

  it.for([
    "DoNotSchedule",
    "ScheduleAnyway",
    "minDomains",
    "matchLabelKeys",
    "nodeTaintsPolicy",
    "podAntiAffinity",
    "namespaceSelector",
    "hostPort",
    "ephemeral-storage",
    "volumeClaimTemplate",
    "allowedTopologies",
    "reservationCapacity",
    "minValues",
    "startupTaints",
    "restartPolicy",
    "nvidia.com/gpu",
    "deletionTimestamp",
    "maxUnavailable",
    "limits",
  ])("has %s somewhere", (feature) => {
    expect(text).toContain(`"${feature}"`);
  });
});
