import { join } from "node:path";
import { nameOf } from "#manifests/api-object.ts";
import { loadManifests, type Manifest } from "#manifests/read.ts";

/** The DaemonSets that EKS runs on each node, without those that the given manifests replace. */
export function eksDaemons(given: readonly Manifest[]): readonly Manifest[] {
  const replaced = new Set(given.filter(({ object }) => object.kind === "DaemonSet").map(({ object }) => nameOf(object)));
  return loadManifests([join(import.meta.dirname, "eks-daemons.yaml")]).filter(({ object }) => !replaced.has(nameOf(object)));
}
