import { describe, expect, it } from "vitest";
import type { OnDemandInstance, ReservedInstance } from "#core/ports/cloud-inventory.ts";
import { refreshPaidCapacity } from "#functions/catalog/paid-capacity.ts";
import { readPaid } from "#functions/shared/paid-capacity.ts";
import { TestWorld } from "./world.ts";

const MINUTE = 60_000;

function open(settings: object, account?: string) {
  const world = new TestWorld();
  const state: { reserved: ReservedInstance[]; running: OnDemandInstance[]; families: unknown[]; isBroken: boolean } = {
    ...{ reserved: [], running: [], families: [], isBroken: false },
  };
  const inventory = {
    ...world.inventory,
    reservedInstances: async () => state.reserved,
    onDemandInstances: async (families: readonly string[] | undefined) => {
      state.families.push(families);
      if (state.isBroken) throw new Error("UnauthorizedOperation");
      return state.running;
    },
  };
  const deps = { ...world.deps, inventory, settings: { ...world.deps.settings, ...settings }, ...(account !== undefined && { account }) };
  const paid = async () => (await readPaid(deps, true)).map(({ perHour }) => perHour);
  return { world, state, deps, paid };
}

const M5 = { savingsPlans: [{ of: { kind: "family", family: "m5" }, perHour: 1 }] };
const machine = (cluster: string): OnDemandInstance => ({
  ...{ id: `i-${cluster}`, instanceType: "m5.large", zone: "us-west-2a", launchedAt: 0, cluster, isWindows: false, isDedicated: false },
});

describe("refreshPaidCapacity", () => {
  it("reads nothing where no setting asks for it", async () => {
    const { state, deps, world, paid } = open({});
    await refreshPaidCapacity(deps);
    expect([state.families, [...world.documents.keys()], await paid()]).toEqual([[], [], []]);
  });

  it("reads the account every five minutes, of the families that are paid for, and says what a cluster may count on", async () => {
    const { state, deps, world, paid } = open(M5);
    state.running = [machine("prod"), machine("other")];
    await refreshPaidCapacity(deps);
    world.now += 4 * MINUTE;
    await refreshPaidCapacity(deps);
    expect([state.families, [...world.documents.keys()]]).toEqual([[["m5"]], ["paid/us-west-2"]]);
    expect(await paid()).toEqual([expect.closeTo(0.904)]);
    world.now += MINUTE;
    await refreshPaidCapacity(deps);
    expect(state.families).toHaveLength(2);
  });

  it("reads all families for a commitment of any family, and no instances without a commitment", async () => {
    const any = open({ savingsPlans: [{ of: { kind: "any" }, perHour: 1 }] });
    await refreshPaidCapacity(any.deps);
    expect(any.state.families).toEqual([undefined]);
    const none = open({ reservedInstances: true });
    await refreshPaidCapacity(none.deps);
    expect([none.state.families, await none.paid()]).toEqual([[], []]);
  });

  it("counts reserved instances of any account, and the Savings Plans of the setting in the functions' own", async () => {
    const { state, deps, world, paid } = open({ ...M5, reservedInstances: true }, "111122223333");
    state.reserved = [{ instanceType: "m5.large", count: 2, platform: "Linux/UNIX", tenancy: "default" }];
    await refreshPaidCapacity(deps);
    expect([...world.documents.keys()]).toEqual(["paid/us-west-2/111122223333"]);
    expect(await paid()).toEqual([expect.closeTo(0.192)]);
    const plansAlone = open(M5, "111122223333");
    await refreshPaidCapacity(plansAlone.deps);
    expect([plansAlone.state.families, await plansAlone.paid()]).toEqual([[], []]);
  });

  it("says which families of the setting the region does not have", async () => {
    const { deps, world } = open({ savingsPlans: [...M5.savingsPlans, { of: { kind: "family", family: "m55" }, perHour: 1 }] });
    await refreshPaidCapacity(deps);
    expect(world.errors).toEqual([expect.stringContaining("SAVINGS_PLANS names families of which the region has no instance type")]);
  });

  it("keeps the last reading when the account cannot be read, and says so", async () => {
    const { state, deps, world, paid } = open(M5);
    await refreshPaidCapacity(deps);
    state.isBroken = true;
    world.now += 5 * MINUTE;
    await refreshPaidCapacity(deps);
    expect(world.errors).toEqual([
      "failed reading what Savings Plans and reserved instances pay for; the last readings count for up to six hours: UnauthorizedOperation",
    ]);
    expect(await paid()).toEqual([1]);
  });

  it("counts nothing, and says so, when what was written cannot be read", async () => {
    const { deps, world, paid } = open(M5);
    await refreshPaidCapacity(deps);
    world.documents.set("paid/us-west-2", { bytes: new TextEncoder().encode("[{}]"), version: "1" });
    expect([await paid(), world.errors.length]).toEqual([[], 1]);
  });
});
