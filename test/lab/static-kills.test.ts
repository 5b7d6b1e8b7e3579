import { describe, expect, it } from "vitest";
import type { Lab } from "#lab/host.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { killedAt, killPoints, unharmed } from "../simulation/kill-everywhere.ts";
import { FAMILIES, NODE_CLASS, nodePool, ON_DEMAND, type Story } from "../simulation/story.ts";
import { STATIC_KILLS_EVERY } from "../support/effort.ts";

const MINUTE = 60_000;

function fixed(replicas: number, labels: Readonly<Record<string, string>> = {}): ApiObject {
  const pool = nodePool([ON_DEMAND, FAMILIES]);
  const { limits: _, template, ...spec } = pool["spec"] as { limits: object; template: object };
  return { ...pool, spec: { ...spec, template: { ...template, metadata: { labels } }, replicas } };
}

const resize =
  (replicas: number) =>
  (lab: Lab): void =>
    lab.world.scale("NodePool", undefined, "default", replicas);

/** Changes of a static NodePool during which functions are killed. */
const STORIES: readonly Story[] = [
  {
    name: "static pool grows and shrinks",
    objects: [NODE_CLASS, fixed(0)],
    settings: { staticCapacity: true },
    acts: [
      { what: "0 to 3 replicas", wait: 8 * MINUTE, act: resize(3) },
      { what: "3 to 1 replica", wait: 8 * MINUTE, act: resize(1) },
    ],
  },
  {
    name: "static pool drifts",
    objects: [NODE_CLASS, fixed(2)],
    settings: { staticCapacity: true },
    acts: [
      { what: "time passes", wait: 4 * MINUTE, act: () => {} },
      { what: "the template changes", wait: 20 * MINUTE, act: (lab) => void lab.world.apply(fixed(2, { team: "blue" })) },
    ],
  },
];

/** Every how manyth kill point is tried, at a second each; `EVERY=1 vitest run …` tries all of them. */
const EVERY = Number(process.env["EVERY"] ?? STATIC_KILLS_EVERY);

describe("functions that are killed at any remote call", () => {
  it.for(STORIES)("$name, with the same end", { timeout: 600_000 }, async (story) => {
    const plain = await unharmed(story, 1);
    expect(plain.ending.nodes.length).toBeGreaterThan(0);
    for (const point of killPoints(plain, EVERY)) {
      const { at, ending } = await killedAt(story, 1, point, plain.ending);
      expect({ at, when: point.when, ending }).toEqual({ at, when: point.when, ending: plain.ending });
    }
  });
});
