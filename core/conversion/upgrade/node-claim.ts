import { isJsonObject, type JsonObject, mapAt, type Path } from "../../lib/json.ts";
import { ManifestDraft } from "../draft.ts";
import { nodeClassRefToV1 } from "../node-class-ref.ts";
import { AWS, NODE_CLASS_KIND } from "../versions.ts";
import { kubeletSettings } from "./kubelet.ts";
import { tidyMetadata, tidyRequirements } from "./metadata.ts";

const REQUIREMENTS: Path = ["spec", "requirements"];
const REF: Path = ["spec", "nodeClassRef"];

/** A v1alpha5 Machine or v1beta1 NodeClaim as a v1 NodeClaim. `expireAfter` is that of its NodePool, if known. */
export function upgradeNodeClaim(object: JsonObject, input: number, expireAfter: string | undefined): ManifestDraft {
  const draft = ManifestDraft.of(object, input);
  const isMachine = object["kind"] === "Machine";
  draft.set(["apiVersion"], "karpenter.sh/v1");
  draft.set(["kind"], "NodeClaim");
  tidyMetadata(draft);
  if (isMachine && draft.get(REQUIREMENTS) === undefined) draft.set(REQUIREMENTS, []);
  tidyRequirements(draft, REQUIREMENTS);
  draft.rename(["spec", "machineTemplateRef"], REF);
  const ref = draft.get(REF);
  if (isMachine) draft.set(REF, { group: AWS, kind: NODE_CLASS_KIND, ...pick(mapAt(ref, []), "name") });
  else if (isJsonObject(ref)) draft.set(REF, nodeClassRefToV1(ref));
  if (expireAfter !== undefined) draft.set(["spec", "expireAfter"], expireAfter);
  else draft.note("info", ["spec"], "expireAfter was the NodePool's; without one here the node ends after 720h: add it, or Never");
  const kubelet = kubeletSettings(draft.remove(["spec", "kubelet"]) ?? null);
  if (kubelet) {
    draft.note("act", REF, "kubelet settings are EC2NodeClass's in v1: see that the class has them in its spec", { kubelet });
  }
  draft.note("info", [], "to apply a NodeClaim launches a machine; those that run already are known by their own");
  return draft;
}

const pick = (map: JsonObject, name: string): JsonObject => (map[name] === undefined ? {} : { [name]: map[name] });
