import fc from "fast-check";
import { expect, it } from "vitest";
import { renderUserData } from "#core/launch/user-data.ts";
import type { Taint } from "#core/model/taint.ts";
import { readUserData } from "#lab/world/user-data.ts";

const name = fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,6}[a-z0-9])?$/);
const labels = fc.dictionary(
  fc.tuple(name, name).map(([domain, key]) => `${domain}.example/${key}`),
  name,
  { maxKeys: 4, noNullPrototype: true },
);
const taint: fc.Arbitrary<Taint> = fc.record(
  { key: name, value: name, effect: fc.constantFrom("NoSchedule", "PreferNoSchedule", "NoExecute") },
  { requiredKeys: ["key", "effect"] },
);
const cluster = { name: "prod", endpoint: "https://ABC.eks.example", caBundle: "Q0E=", serviceCidr: "10.100.0.0/16" };

it.for(["AL2", "AL2023", "Bottlerocket", "Windows2022"] as const)(
  "user data of %s gives an instance its cluster, labels, taints and pod limit",
  (family) => {
    fc.assert(
      fc.property(
        labels,
        fc.uniqueArray(taint, { maxLength: 3, selector: ({ key }) => key }),
        fc.integer({ min: 1, max: 737 }),
        (given, taints, maxPods) => {
          const userData = renderUserData({
            family,
            cluster,
            labels: { ...given, "topology.kubernetes.io/zone": "z", "node-restriction.kubernetes.io/a": "b" },
            taints,
            maxPods,
            capacityType: "spot",
          });
          const read = readUserData(userData);
          expect(read).toMatchObject({ cluster: "prod", endpoint: cluster.endpoint, maxPods });
          expect(read.labels).toEqual({ ...given, "karpenter.sh/capacity-type": "spot", "karpenter.sh/do-not-sync-taints": "true" });
          const seen = read.taints.map(({ key, value, effect }) => `${key}=${value ?? ""}:${effect}`).sort();
          const want = [...taints, { key: "karpenter.sh/unregistered", effect: "NoExecute" } as Taint];
          expect(seen).toEqual(want.map(({ key, value, effect }) => `${key}=${value ?? ""}:${effect}`).sort());
        },
      ),
      { numRuns: 50 },
    );
  },
);
