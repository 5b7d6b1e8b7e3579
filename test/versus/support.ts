import type { ActFigures, Run } from "./figures.ts";

// Plain figures for the tests of the comparison.

export const actFigures = (more: Partial<ActFigures> = {}): ActFigures => ({
  ...{ act: "up", firstFleet: 2, lastFleet: 3, running: 22, waited: 100, fleets: 2, launched: 2, atRest: 2 },
  ...{ usdPerHour: 0.4, cents: 0.5, evicted: 0, launchedTypes: "2×m5.xlarge@a", atRestTypes: "2×m5.xlarge@a" },
  ...more,
});

export const run = (autoscaler: Run["autoscaler"], more: Partial<Run> = {}): Run => ({
  ...{ course: "waves", autoscaler, run: 1, acts: [actFigures()], usage: { cpuSeconds: 3, peakMb: 200 } },
  ...{ ec2: { CreateFleet: 2 }, kube: { "list pods": 3 }, problems: [], load: 1 },
  ...more,
});
