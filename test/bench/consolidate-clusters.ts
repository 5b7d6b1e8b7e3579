import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { type ClusterRequest, underutilizedCluster } from "../conformance/clusters/cluster.ts";
import { CLUSTER_KINDS, type ClusterKindName } from "../conformance/clusters/kinds.ts";

/** The folder of generated clusters and Karpenter's trails; existing files are used again. */
export const CLUSTER_FOLDER = resolve(import.meta.dirname, "../../.cache/clusters");
const GIVEN = resolve(import.meta.dirname, "../../../shared/conformance/bench");

/** From this number of nodes on, clusters have ten pods a node of half the size: 10,000 pods on 1,000 nodes. */
const LARGE = 1000;

export const KIND_NAMES = Object.keys(CLUSTER_KINDS) as ClusterKindName[];

/** The file of a generated cluster with the whole catalogue on offer. Writes the file when it does not exist. */
export function clusterFile({ kind, seed, nodes }: Pick<ClusterRequest, "kind" | "seed" | "nodes">): string {
  const path = join(CLUSTER_FOLDER, `${kind}-${nodes}-${seed}.scenario.json.gz`);
  if (existsSync(path)) return path;
  mkdirSync(CLUSTER_FOLDER, { recursive: true });
  const cluster = underutilizedCluster({ kind, seed, nodes, ...(nodes >= LARGE ? { pods: nodes * 10, podSize: 0.5 } : {}) });
  writeFileSync(path, gzipSync(JSON.stringify(cluster)));
  return path;
}

/** The given clusters of these sizes, when the folder of the conformance inputs exists beside the project. */
export function givenClusters(sizes: readonly number[]): string[] {
  return sizes.map((size) => join(GIVEN, `consolidate-${size}.scenario.json.gz`)).filter((path) => existsSync(path));
}

export function clusterName(path: string): string {
  return basename(path).replace(/\.scenario\.json(\.gz)?$/, "");
}
