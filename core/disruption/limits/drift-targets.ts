import { contentHash } from "../../lib/fnv.ts";
import type { EC2NodeClass } from "../../model/node-class.ts";
import type { NodePool } from "../../model/node-pool.ts";

/** Scope to a hash of what nodes of it are made of: the NodePool's template; the EC2NodeClass's spec and its AMIs. */
export type DriftTargets = Readonly<Record<string, string>>;

const poolScope = ({ metadata }: NodePool): string => `NodePool/${metadata.name}`;
const classScope = (name: string): string => `EC2NodeClass/${name}`;

/** What a drifted node of a NodePool may be worse by: NodePools of one EC2NodeClass share its AMIs. */
export const scopesOf = (pool: NodePool): readonly string[] => [poolScope(pool), classScope(pool.spec.template.spec.nodeClassRef.name)];

/** What nodes are made of now, by scope. */
export function driftTargets(nodePools: readonly NodePool[], nodeClasses: readonly EC2NodeClass[]): DriftTargets {
  return Object.fromEntries([
    ...nodePools.map((pool) => [poolScope(pool), contentHash(pool.spec.template)]),
    ...nodeClasses.map(({ metadata, spec, status }) => {
      const amis = (status?.amis ?? []).map(({ id }) => id).sort();
      return [classScope(metadata.name), contentHash({ spec, amis })];
    }),
  ]);
}
