import { describe, expect, it } from "vitest";
import { compared } from "#cli/observe/replay.ts";
import { settingsOf } from "#terminal/given-settings.ts";
import { deployment, job, observedLab } from "./observed-lab.ts";

const COURSE = {
  minutes: 40,
  objects: [deployment("web", 8, "900m", "1Gi"), deployment("api", 4, "1500m", "3Gi")],
  acts: [
    [5, (lab) => lab.world.scale("Deployment", "shop", "web", 24)],
    [12, (lab) => void lab.world.apply(job("batch", 10, 420, "1"))],
    [28, (lab) => lab.world.scale("Deployment", "shop", "web", 6)],
  ],
} satisfies Parameters<typeof observedLab>[0];

describe("a replay of what karpenter-serverless itself did", async () => {
  const { trace, lab } = await observedLab(COURSE);
  const plain = await compared(trace, { settings: {}, apply: [], seed: 1 });

  it("forecasts what came", () => {
    const { observed, replayed, assumed } = plain;
    expect(Math.abs(replayed.dollars / observed.dollars - 1)).toBeLessThan(0.05);
    expect(Math.abs(replayed.machines.mean - observed.machines.mean)).toBeLessThan(1);
    expect(Math.abs(replayed.waits.p50 - observed.waits.p50)).toBeLessThan(20);
    // 16 replicas and 10 pods of the Job were asked for, whatever consolidation evicted on either side.
    expect([observed.waits.pods - observed.moves, replayed.waits.pods - replayed.moves]).toEqual([26, 26]);
    expect(observed.moves).toBeGreaterThan(0);
    expect(replayed.unbound).toEqual([]);
    expect(assumed.join("\n")).toMatch(/spot prices are made up/);
  });

  it("counts the observed nodes as EC2 bills them", () => {
    const from = trace.entries[0]?.at ?? 0;
    const to = trace.entries.at(-1)?.at ?? 0;
    const billed = lab.cloud.machines().map(({ instance, price, endedAt = to }) => {
      const ms = Math.max(0, endedAt - Math.max(from, instance.launchedAt));
      return (price * ms) / 3_600_000;
    });
    // A NodeClaim is there until EC2 has ended the machine and the next look comes, which EC2 does not bill.
    const more = plain.observed.dollars / billed.reduce((sum, usd) => sum + usd, 0) - 1;
    expect(more).toBeGreaterThanOrEqual(0);
    expect(more).toBeLessThan(0.1);
  });

  it("under another setting answers what the setting would have cost", async () => {
    const capped = await compared(trace, { settings: settingsOf(["MAX_PRICE_PER_HOUR=prod=0.5"]).settings, apply: [], seed: 1 });
    expect(capped.replayed.dollars).toBeLessThan(plain.replayed.dollars);
    expect(capped.replayed.waits.sum).toBeGreaterThan(plain.replayed.waits.sum);
  });
});
