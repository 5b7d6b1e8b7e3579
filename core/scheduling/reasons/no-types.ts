import { NODE_POOL } from "../../model/labels.ts";
import type { NodePool } from "../../model/node-pool.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { intersectAll, requirementsFrom, requirementsFromLabels } from "../../requirements/requirements.ts";
import { allowedValues } from "../claims/min-values.ts";
import { isLaunchable, isUsable } from "../problem/template.ts";
import { isEmpty, members } from "../tables/bitset.ts";
import { RequirementSets } from "../tables/requirement-sets.ts";
import { typeTable } from "../tables/type-table.ts";

/** A NodePool from which no node can be launched now, whatever pods ask for. */
interface PoolWithoutTypes {
  readonly pool: NodePool;
  /** Instance types are left, but too few for minValues. */
  readonly byMinValues: boolean;
}

/**
 * The usable NodePools whose own requirements leave no instance type with an offering that is available; with
 * minValuesPolicy "Strict" also those that have fewer types than minValues asks for. A NodePool of another controller,
 * of which no instance types are known, is none of them
 * (karpenter: pkg/controllers/provisioning/scheduling/scheduler.go, NewScheduler).
 */
export function poolsWithoutTypes(
  { nodePools, instanceTypes, now }: Snapshot,
  { minValuesPolicy = "Strict" }: { readonly minValuesPolicy?: "Strict" | "BestEffort" } = {},
): readonly PoolWithoutTypes[] {
  const sets = new RequirementSets();
  return nodePools
    .filter((one) => isUsable(one, now))
    .flatMap((pool): readonly PoolWithoutTypes[] => {
      const table = typeTable(instanceTypes.get(pool.metadata.name) ?? []);
      if (table.types.length === 0) return [];
      const { template } = pool.spec;
      const own = requirementsFrom(template.spec.requirements);
      const labels = requirementsFromLabels({ ...template.metadata?.labels, [NODE_POOL]: pool.metadata.name });
      const set = sets.intern(intersectAll(own, labels));
      const types = table.admitted(set);
      if (!isLaunchable(set.requirements) || isEmpty(types)) return [{ pool, byMinValues: false }];
      const lacks = [...own.values()].some(({ key, minValues }) => {
        const values = new Set(members(types).flatMap((t) => allowedValues({ table }, t, key, set)));
        return minValues !== undefined && values.size < minValues;
      });
      return lacks && minValuesPolicy === "Strict" ? [{ pool, byMinValues: true }] : [];
    });
}
