import type { WakeUp } from "#core/ports/wake-ups.ts";

/** What a changed definition means for pods that wait. */
type ForPods = "NodePoolReady" | "NodePoolChanged" | "NodeClassReady" | "NodeClassChanged" | "NodeOverlayChanged";

/**
 * The wake-ups for a NodePool, EC2NodeClass or NodeOverlay whose status now says what its spec asks for: pods that
 * fitted nowhere may have a node, and nodes may have drifted, be consolidatable or be cheaper.
 */
export function definitionWakeUps(
  cluster: string,
  cause: ForPods,
  kind: "NodePool" | "EC2NodeClass" | "NodeOverlay",
  name: string,
): readonly WakeUp[] {
  return [
    { kind: "provision", cluster, cause, detail: name },
    { kind: "disruption", cluster, cause: "DefinitionChanged", detail: `${kind} ${name}` },
  ];
}
