import type { NodeOverlay, NodeOverlaySpec } from "../../../core/model/node-overlay.ts";

/** An overlay that selects everything, unless the spec says otherwise. */
export function nodeOverlay(name: string, spec: Partial<NodeOverlaySpec>): NodeOverlay {
  return {
    apiVersion: "karpenter.sh/v1alpha1",
    kind: "NodeOverlay",
    metadata: { name, generation: 1 },
    spec: { requirements: [], ...spec },
  };
}

export const only = (key: string, ...values: string[]) => ({ key, operator: "In" as const, values });
