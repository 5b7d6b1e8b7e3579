import { expect, it } from "vitest";
import { settingsOf } from "#terminal/given-settings.ts";

it("settings of the command line are those of a deployment, as far as they are given", () => {
  expect(
    settingsOf(["FEATURE_GATES=SpotToSpotConsolidation=true,NodeOverlay=false", "CONSOLIDATION_HORIZON=none", "LOG_LEVEL=debug"]),
  ).toEqual({
    settings: { spotToSpotConsolidation: true, nodeOverlay: false, horizonMs: undefined },
    unused: ["LOG_LEVEL"],
  });
  expect(settingsOf([])).toEqual({ settings: {}, unused: [] });
});

it.for([
  { given: ["x"], says: '--setting takes NAME=VALUE, not "x"' },
  { given: ["RESERVED_ENI=1"], says: "--setting: there is no setting RESERVED_ENI; did you mean RESERVED_ENIS?" },
  { given: ["RESERVED_ENIS=1", "RESERVED_ENIS=2"], says: "--setting RESERVED_ENIS is given twice; leave one of them out" },
  { given: ["RESERVED_ENIS=-1"], says: '--setting RESERVED_ENIS: set it to a whole number of 0 or more, not "-1"' },
  {
    given: ["FEATURE_GATES=NodeRepair"],
    says: '--setting FEATURE_GATES: set it to a list such as SpotToSpotConsolidation=true,NodeRepair=false, not "NodeRepair"',
  },
])("a setting that is wrong is one sentence: $given", ({ given, says }) => {
  expect(() => settingsOf(given)).toThrow(new Error(says));
});
