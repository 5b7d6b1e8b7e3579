import { expect, it } from "vitest";
import { filterForLaunch } from "#core/launch/filter.ts";
import type { Offering } from "#core/model/instance-type.ts";
import { requirementsFrom } from "#core/requirements/requirements.ts";
import * as objects from "../../support/objects.ts";
import { instanceType, nodePool, planFor, pod } from "../../support/scheduling/builders.ts";

const TYPE = "karpenter.k8s.aws/capacity-reservation-type";
const INTERRUPTIBLE = "karpenter.k8s.aws/capacity-reservation-interruptible";
const reserved = (id: string, more: Partial<Offering>): Offering => ({
  zone: "zone-a",
  capacityType: "reserved",
  price: 1e-7,
  available: true,
  reservationId: id,
  reservationCapacity: 1,
  reservationType: "default",
  reservationInterruptible: false,
  ...more,
});
const plain = reserved("cr-plain", {});
const block = reserved("cr-block", { reservationType: "capacity-block" });
const lent = reserved("cr-lent", { reservationInterruptible: true });
const typeWith = (...offerings: readonly Offering[]) =>
  instanceType("m.small", 2, 8, { offerings: [...objects.offerings(["zone-a"], 0.1), ...offerings] });
const wants = (name: string, nodeSelector: Readonly<Record<string, string>>) => pod(name, { cpu: "1" }, { nodeSelector });

const POOL = nodePool("default", {
  requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["reserved", "on-demand"] }],
});

it("pods that select sorts of capacity reservations get one claim each, which the launch accepts", () => {
  const type = typeWith(plain, block, lent);
  const pods = [
    wants("block", { [TYPE]: "capacity-block" }),
    wants("plain", { [TYPE]: "default", [INTERRUPTIBLE]: "false" }),
    wants("lent", { [INTERRUPTIBLE]: "true" }),
  ];
  const { newNodeClaims } = planFor({ nodePools: [POOL], instanceTypes: [type], pods });
  const launched = newNodeClaims.map(({ pods: names, requirements }) => {
    const filtered = filterForLaunch([type], requirementsFrom(requirements), {});
    const ids =
      "ok" in filtered ? filtered.ok.candidates.flatMap(({ offerings }) => offerings.map(({ reservationId }) => reservationId)) : [];
    return `${names.join()} in ${ids.join()}`;
  });
  expect(launched.sort()).toEqual(["default/block in cr-block", "default/lent in cr-lent", "default/plain in cr-plain"]);
});

it.for([
  { name: "that is used up gets neither another reservation nor on-demand capacity", offerings: [plain, { ...block, available: false }] },
  { name: "that nobody has gets neither another reservation nor on-demand capacity", offerings: [plain, lent] },
])("a pod that selects a capacity block $name", ({ offerings }) => {
  const plan = planFor({ nodePools: [POOL], instanceTypes: [typeWith(...offerings)], pods: [wants("p", { [TYPE]: "capacity-block" })] });
  expect(plan.newNodeClaims).toEqual([]);
  expect(plan.podErrors["default/p"]).toContain(`${TYPE}=capacity-block`);
});

it.for([
  { name: "one reservation", ids: ["cr-1"], says: "its reservation cr-1 is full (2 of 2); raise its size, or allow on-demand or spot" },
  {
    name: "two reservations",
    ids: ["cr-1", "cr-2"],
    says: "its reservations cr-1 is full (2 of 2) and cr-2 is full (2 of 2); raise its size, or allow on-demand or spot",
  },
])("a pool of reserved capacity alone says that it is full: $name", ({ ids, says }) => {
  const full = ids.map((id) => reserved(id, { reservationCapacity: 0, reservationSize: 2, available: false }));
  const only = nodePool("default", { requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["reserved"] }] });
  const plan = planFor({ nodePools: [only], instanceTypes: [typeWith(...full)], pods: [pod("p", { cpu: "1" })] });
  expect(plan.podErrors["default/p"]).toContain(says);
  expect(plan.podErrors["default/p"]).not.toContain("reserved in zone-a");
});
