import fc from "fast-check";
import { expect, it } from "vitest";
import type { InstanceType } from "#core/model/instance-type.ts";
import { conflictOf, requirementsFrom } from "#core/requirements/requirements.ts";
import { type Daemon, daemonGroups } from "#core/scheduling/problem/daemon-overhead.ts";
import { hasBit } from "#core/scheduling/tables/bitset.ts";
import { TypeTable } from "#core/scheduling/tables/type-table.ts";

const ARCH = "kubernetes.io/arch";
const arch = fc.constantFrom("amd64", "arm64", "riscv64");
const types = fc.array(arch, { maxLength: 6 }).map((all) =>
  all.map(
    (value, i): InstanceType => ({
      name: `type-${i}`,
      requirements: [{ key: ARCH, operator: "In", values: [value] }],
      capacity: {},
      overhead: {},
      offerings: [],
    }),
  ),
);
const alternative = fc
  .record({ operator: fc.constantFrom("In" as const, "NotIn" as const), values: fc.uniqueArray(arch, { minLength: 1, maxLength: 2 }) })
  .map((item) => requirementsFrom([{ key: ARCH, ...item }]));
const daemons = fc.array(fc.array(alternative, { minLength: 1, maxLength: 2 }), { maxLength: 4 }).map((all) =>
  all.map(
    (alternatives, i): Daemon => ({
      uid: `uid-${i}`,
      name: `kube-system/daemon-${i}`,
      requests: { cpu: 10 ** i },
      ports: [],
      tolerations: [],
      alternatives,
    }),
  ),
);

it("each instance type is in the one group of the DaemonSets that run on it, and groups stand in the order of their first types", () => {
  fc.assert(
    fc.property(types, daemons, (list, all) => {
      const table = new TypeTable(list);
      const { groups, groupOf } = daemonGroups(all, { requirements: new Map(), taints: [] }, table);
      table.types.forEach(({ requirements }, t) => {
        const own = requirementsFrom(requirements);
        const running = all.filter(({ alternatives }) => alternatives.some((wanted) => conflictOf(own, wanted) === undefined));
        const group = groups[groupOf[t] ?? -1];
        expect(group?.daemons).toEqual(running);
        expect(group?.overhead["cpu"] ?? 0).toBe(running.reduce((sum, { requests }) => sum + (requests["cpu"] ?? 0), 0));
        expect(groups.map(({ types: members }) => hasBit(members, t))).toEqual(groups.map((other) => other === group));
      });
      expect([...new Set(groupOf)]).toEqual(groups.map((_, index) => index));
    }),
  );
});
