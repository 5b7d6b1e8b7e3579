import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { type ClusterRequest, underutilizedCluster } from "../conformance/clusters/cluster.ts";
import { CLUSTER_KINDS, type ClusterKindName } from "../conformance/clusters/kinds.ts";

/** Where generated clusters and Karpenter's trails are kept; a file that is there is not made anew. */
export const CLUSTER_FOLDER = resolve(import.meta.dirname, "../../.cache/clusters");
const GIVEN = resolve(import.meta.dirname, "../../../shared/conformance/bench");

/** Clusters of so many nodes hold ten pods a node, half as large: 1,000 with 10,000 and 5,000 with 50,000, as the goals name them. */
const LARGE = 1000;

export const KIND_NAMES = Object.keys(CLUSTER_KINDS) as ClusterKindName[];

/** The file of a generated cluster, with the whole catalogue for sale. Written when it is not there yet. */
export function clusterFile({ kind, seed, nodes }: Pick<ClusterRequest, "kind" | "seed" | "nodes">): string {
  const path = join(CLUSTER_FOLDER, `${kind}-${nodes}-${seed}.scenario.json.gz`);
  if (existsSync(path)) return path;
  mkdirSync(CLUSTER_FOLDER, { recursive: true });
  const cluster = underutilizedCluster({ kind, seed, nodes, ...(nodes >= LARGE ? { pods: nodes * 10, podSize: 0.5 } : {}) });
  writeFileSync(path, gzipSync(JSON.stringify(cluster)));
  return path;
}

/** The given clusters of these sizes, where the folder of the conformance inputs lies beside the project. */
export function givenClusters(sizes: readonly number[]): string[] {
  return sizes.map((size) => join(GIVEN, `consolidate-${size}.scenario.json.gz`)).filter((path) => existsSync(path));
}

export function clusterName(path: string): string {
  return basename(path).replace(/\.scenario\.json(\.gz)?$/, "");
}
