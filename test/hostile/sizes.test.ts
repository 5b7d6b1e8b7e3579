import { expect, it } from "vitest";
import { seeded } from "#lab/world/random.ts";
import { NODE_CLASS } from "../simulation/story.ts";
import { INFLATE, MINUTE, POOL, pass, ready, scale } from "../support/lab-story.ts";

it("pods that list a megabyte of label values are told, and ordinary pods get their nodes", async () => {
  const lab = await ready([NODE_CLASS, POOL, INFLATE]);
  const random = seeded(1).fork("values");
  const values = Array.from({ length: 15_000 }, () => random.hex(60));
  for (let i = 0; i < 3; i++) {
    const matchExpressions = [{ key: `team-${i}`, operator: "NotIn", values }];
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } } };
    lab.world.apply({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: `large-${i}`, namespace: "tenant" },
      spec: { affinity, containers: [{ name: "main", image: "pause", resources: { requests: { cpu: "1" } } }] },
    });
  }
  scale(lab, 3);
  await pass(lab, 3 * MINUTE);
  const phases = lab.world.store
    .list("Pod")
    .map(({ metadata, status }) => `${metadata.name.split("-")[0]} ${(status as { phase: string }).phase}`);
  expect(phases.sort()).toEqual([...Array(3).fill("inflate Running"), ...Array(3).fill("large Pending")]);
  const told = lab.world.events.filter(({ about, reason }) => about.metadata.name === "large-0" && reason === "FailedScheduling");
  expect(told.map(({ message }) => message).join()).toMatch(/list label values of 900011 characters together, and a NodeClaim takes 65536/);
  lab.close();
}, 60_000);
