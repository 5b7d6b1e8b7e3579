import { isJsonObject, type JsonObject, mapAt, type Path } from "../../lib/json.ts";
import { ManifestDraft } from "../draft.ts";
import { nodeClassRefToV1 } from "../node-class-ref.ts";
import { raiseDisruption, TEMPLATE_SPEC } from "../node-pool.ts";
import { kubeletSettings, type Made } from "./kubelet.ts";
import { tidyMetadata, tidyNames, tidyRequirements } from "./metadata.ts";
import { noteExpiry } from "./provisioner.ts";

const REQUIREMENTS: Path = [...TEMPLATE_SPEC, "requirements"];
const REF: Path = [...TEMPLATE_SPEC, "nodeClassRef"];
const KUBELET: Path = [...TEMPLATE_SPEC, "kubelet"];

/** A v1beta1 NodePool as a v1 manifest. */
export function upgradeNodePool(object: JsonObject, input: number): Made {
  const draft = ManifestDraft.of(object, input);
  draft.set(["apiVersion"], "karpenter.sh/v1");
  tidyMetadata(draft);
  tidyNames(draft, ["spec", "template", "metadata"]);
  // Tools wrote null for an empty list. An absent list stays absent, because in a kustomize patch an empty list would
  // remove the NodePool's requirements.
  if (mapAt(draft.object, TEMPLATE_SPEC)["requirements"] === null) draft.set(REQUIREMENTS, []);
  tidyRequirements(draft, REQUIREMENTS);
  const isExpiring = draft.get(["spec", "disruption", "expireAfter"]) ?? "Never";
  raiseDisruption(draft);
  if (isExpiring !== "Never") noteExpiry(draft);
  const ref = draft.get(REF);
  if (isJsonObject(ref)) draft.set(REF, nodeClassRefToV1(ref));
  draft.remove([...TEMPLATE_SPEC, "resources"]);
  const settings = kubeletSettings(draft.remove(KUBELET) ?? null);
  return { draft, ...(settings && { kubelet: { settings, from: KUBELET } }) };
}
