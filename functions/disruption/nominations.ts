import { NOMINATION_MS } from "#core/provisioning/nominations.ts";
import type { ClusterState } from "../shared/cluster-state.ts";

/**
 * Until when (ms since the epoch) a node that has just been initialized is kept for the pods that it was launched for
 * (karpenter: pkg/controllers/state/statenode.go, StateNode.Nominate).
 */
export function nominations({ snapshot, records }: ClusterState): ReadonlyMap<string, number> {
  const nodeByClaim = new Map(snapshot.nodeClaims.map(({ metadata, status }) => [metadata.name, status?.nodeName]));
  return new Map(
    records.flatMap(({ name, initializedAt }) => {
      const node = nodeByClaim.get(name);
      return node !== undefined && initializedAt !== undefined ? [[node, initializedAt + NOMINATION_MS]] : [];
    }),
  );
}
