import { describe, expect, it } from "vitest";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import type { UnavailableOffering } from "#core/model/unavailable-offering.ts";
import { instanceTypesOf } from "#core/offerings/instance-types.ts";
import { NotFoundError } from "#core/ports/errors.ts";
import type { ShiftedZone } from "#core/ports/zonal-shift.ts";
import { markShiftedZones } from "#functions/catalog/zonal-shift.ts";
import { nodeClass, nodePool, TestWorld } from "./world.ts";

function open() {
  const world = new TestWorld();
  world.put("NodePool", nodePool());
  const store = embeddedNodeClaimStore();
  const state: { shifted: readonly ShiftedZone[] | Error } = { shifted: [] };
  const zonalShift = {
    awayFrom: async () => {
      if (state.shifted instanceof Error) throw state.shifted;
      return state.shifted;
    },
  };
  const cluster = { ...world.deps.cluster, arn: "arn:aws:eks:us-west-2:111122223333:cluster/prod" };
  const deps = { ...world.deps, store, cluster, zonalShift };
  const marks = () => store.unavailable("prod", world.now);
  return { world, state, deps, marks };
}

/** Zones in which something can be bought. */
async function zonesOf(deps: ReturnType<typeof open>["deps"], unavailable: readonly UnavailableOffering[]) {
  const catalogue = await deps.catalogue();
  const status = { subnets: catalogue.zones.map(({ name, zoneId }, i) => ({ id: `subnet-${i}`, zone: name, zoneID: zoneId })) };
  const types = instanceTypesOf({ catalogue, nodeClass: { ...nodeClass(), status }, unavailable, settings: deps.settings });
  const offerings = types.flatMap((type) => type.offerings).filter(({ available }) => available);
  return [...new Set(offerings.map(({ zone, capacityType }) => `${zone} ${capacityType}`))].sort();
}

describe("markShiftedZones", () => {
  it("a shifted zone is unavailable, by its id, while the shift lasts and up to three minutes after it was last seen", async () => {
    const { world, state, deps, marks } = open();
    const before = await zonesOf(deps, await marks());
    state.shifted = [{ zone: "usw2-az1", until: world.now + 3_600_000 }];
    await markShiftedZones(deps);
    const { name = "" } = (await deps.catalogue()).zones.find(({ zoneId }) => zoneId === "usw2-az1") ?? {};
    expect(await zonesOf(deps, await marks())).toEqual(before.filter((offer) => !offer.startsWith(`${name} `)));
    expect(world.events).toMatchObject([{ reason: "ZonalShiftActive", type: "Warning", about: { kind: "NodePool" } }]);
    expect(world.events[0]?.message).toContain(name);

    state.shifted = [];
    world.now += 3 * 60_000;
    await markShiftedZones(deps);
    expect(await zonesOf(deps, await marks())).toEqual(before);
  });

  it("a zone is marked no longer than the shift lasts, and the event is published once", async () => {
    const { world, state, deps, marks } = open();
    state.shifted = [{ zone: "us-west-2b", until: world.now + 61_000 }];
    await markShiftedZones(deps);
    world.now += 60_000;
    await markShiftedZones(deps);
    expect(world.events).toHaveLength(1);
    expect(await marks()).toHaveLength(3);
    world.now += 1_000;
    expect(await marks()).toEqual([]);
    await markShiftedZones(deps);
    expect(await marks()).toEqual([]);
  });

  it("the end of a shift is told once, also of one that ended by itself, and a second shift is told anew", async () => {
    const { world, state, deps } = open();
    const reasons = () => world.events.map(({ reason }) => reason);
    state.shifted = [{ zone: "us-west-2b", until: world.now + 61_000 }];
    await markShiftedZones(deps);
    world.now += 61_000;
    for (let i = 0; i < 3; i++) await markShiftedZones(deps);
    expect(reasons()).toEqual(["ZonalShiftActive", "ZonalShiftCleared"]);
    expect(world.events[1]).toMatchObject({
      type: "Normal",
      message: "Zonal shift away from us-west-2b has ended: nodes are launched there again",
    });
    world.now += 5 * 60_000;
    state.shifted = [{ zone: "us-west-2b" }];
    await markShiftedZones(deps);
    expect(reasons()).toEqual(["ZonalShiftActive", "ZonalShiftCleared", "ZonalShiftActive"]);
  });

  it("a NodePool that never launches in the shifted zone is told nothing", async () => {
    const { world, state, deps } = open();
    const pool = nodePool();
    const elsewhere = { key: "topology.kubernetes.io/zone", operator: "In" as const, values: ["us-west-2a"] };
    const spec = { ...pool.spec, template: { ...pool.spec.template, spec: { ...pool.spec.template.spec, requirements: [elsewhere] } } };
    world.put("NodePool", { ...pool, spec });
    state.shifted = [{ zone: "us-west-2b" }];
    await markShiftedZones(deps);
    expect(world.events).toEqual([]);
  });

  it("an unmanaged cluster is logged once an hour, a failed call each time", async () => {
    const { world, state, deps, marks } = open();
    state.shifted = new NotFoundError("no");
    await markShiftedZones(deps);
    await markShiftedZones(deps);
    expect(world.errors).toEqual([expect.stringMatching(/ARC does not manage the cluster: aws eks update-cluster-config/)]);
    state.shifted = new Error("timed out");
    await markShiftedZones(deps);
    expect(world.errors.at(-1)).toMatch(/failed asking ARC.*timed out/);
    expect(await marks()).toEqual([]);
  });
});
