import { REGISTRATION_TIMEOUT_MS } from "#core/lifecycle/time-limits.ts";
import { conditionOf } from "#core/model/conditions.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import { amiFamilyOf } from "#core/node-class/family.ts";
import type { Lab } from "./host.ts";
import { age } from "./render.ts";

const MINUTE_MS = 60_000;
/** A machine of the lab joins within half a minute of its launch, so until then nothing is wrong. */
const USUAL_MS = MINUTE_MS;

/** The NodeClaims whose node has not registered. */
export const unregistered = ({ world: { store } }: Lab): readonly NodeClaim[] =>
  (store.list("NodeClaim") as readonly NodeClaim[]).filter(
    ({ metadata, status }) => metadata.deletionTimestamp === undefined && conditionOf(status?.conditions, "Registered")?.status !== "True",
  );

/** The NodeClaims whose node is missing and should be there by now. */
export const missingNodes = (lab: Lab): readonly NodeClaim[] =>
  unregistered(lab).filter(({ metadata }) => lab.world.clock.now() - Date.parse(metadata.creationTimestamp ?? "") > USUAL_MS);

/** Why the node of a NodeClaim is missing, how to fix that, and what would follow. */
export function missingNodeProblem(claim: NodeClaim, lab: Lab): string {
  const { metadata, status } = claim;
  const { clock } = lab.world;
  const launched = conditionOf(status?.conditions, "Launched");
  if (launched?.status !== "True") {
    const why = launched?.message || launched?.reason || "it has not been tried yet";
    return `node ${metadata.name} was planned ${age(metadata, clock.now())} ago and has not been launched: ${why}`;
  }
  const since = launched.lastTransitionTime ?? metadata.creationTimestamp ?? "";
  const leftMs = REGISTRATION_TIMEOUT_MS - (clock.now() - Date.parse(since));
  const minutes = REGISTRATION_TIMEOUT_MS / MINUTE_MS;
  const timeout = `. After ${minutes} minutes without a registration it is deleted and another one is launched`;
  const bound = leftMs > 0 ? `${timeout}; the lab has stopped before that (--minutes ${minutes + 1} plays it)` : "";
  const ago = age({ ...metadata, creationTimestamp: since }, clock.now());
  return `node ${metadata.name} was launched ${ago} ago and has not registered: ${causeOf(claim, lab)}${bound}`;
}

function causeOf({ spec, status }: NodeClaim, { world, cloud }: Lab): string {
  const id = status?.providerID?.split("/").pop();
  const machine = cloud.machines().find(({ instance }) => instance.id === id);
  if (machine === undefined || machine.endedAt !== undefined) return "its instance has been terminated";
  const note = world.notes.findLast(({ what, which }) => what === "failed to join" && which === machine.nodeName)?.why;
  if (note === undefined) return "its machine has not joined the cluster yet";
  const { name } = spec.nodeClassRef;
  const nodeClass = world.store.get("EC2NodeClass", name) as EC2NodeClass | undefined;
  const isCustom = nodeClass !== undefined && amiFamilyOf(nodeClass.spec) === "Custom";
  const fix = isCustom
    ? `EC2NodeClass ${name} has amiFamily Custom, so its userData are used as they are; set spec.amiFamily to the family of the image, or write userData that join the cluster`
    : `correct spec.userData of EC2NodeClass ${name}`;
  return `${note}. ${fix}`;
}
