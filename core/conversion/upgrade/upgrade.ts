import { isJsonObject, type JsonObject, textAt } from "../../lib/json.ts";
import { ManifestDraft, type Note, type Origin } from "../draft.ts";
import { TEMPLATE_SPEC } from "../node-pool.ts";
import { AWS, KARPENTER, NODE_CLASS_KIND } from "../versions.ts";
import { type Made, shareOutKubelets } from "./kubelet.ts";
import { tidyMetadata } from "./metadata.ts";
import { upgradeNodeClaim } from "./node-claim.ts";
import { takeNodeTemplate, upgradeNodeClass } from "./node-class.ts";
import { upgradeNodePool } from "./node-pool.ts";
import { upgradeProvisioner } from "./provisioner.ts";
import { noteRemains, Remains } from "./remains.ts";

/** A v1 object, the origins of its parts, and notes for its reader. */
export interface Upgraded {
  readonly object: JsonObject;
  readonly origins: readonly Origin[];
  readonly notes: readonly Note[];
}

/**
 * Upgrades old objects of Karpenter to v1 manifests: v1alpha5 Provisioners and Machines, v1alpha1 AWSNodeTemplates,
 * v1beta1 NodePools, NodeClaims and EC2NodeClasses. Objects that belong together must be given together, because some
 * settings move from one object to another. Returns for each object its new objects, the main one first; undefined for
 * an object that needs no upgrade. A second upgrade changes nothing.
 * @example
 * const [made] = upgrade([provisioner]); // made?.[0]?.object is a v1 NodePool, made?.[0]?.notes say what to check
 */
export function upgrade(objects: readonly unknown[]): readonly (readonly Upgraded[] | undefined)[] {
  const made = objects.map((object, i) => (isJsonObject(object) ? upgradeOne(object as JsonObject, i) : undefined));
  const pools = made.flatMap((list) => list ?? []);
  const withClaims = made.map((list, i) => list ?? claimOf(objects[i], i, pools));
  const copies = shareOutKubelets(pools, new Set(objects.map(classOfPool)));
  return withClaims.map((list) => list?.flatMap(({ draft }) => [draft, ...(copies.get(draft) ?? [])]).map(finished));
}

const finished = ({ object, origins, notes }: ManifestDraft): Upgraded => ({ object, origins, notes });

/** The EC2NodeClass that a v1 NodePool uses. */
const classOfPool = (object: unknown): string | undefined =>
  isJsonObject(object) && object["apiVersion"] === `${KARPENTER}/v1` && object["kind"] === "NodePool"
    ? textAt(object as JsonObject, [...TEMPLATE_SPEC, "nodeClassRef", "name"])
    : undefined;

/** Both groups occur in manifests of these kinds. */
const GROUPS = [KARPENTER, AWS];

function idOf(object: JsonObject): string | undefined {
  const [group = "", version] = String(object["apiVersion"]).split("/");
  return GROUPS.includes(group) ? `${version} ${String(object["kind"])}` : undefined;
}

function upgradeOne(object: JsonObject, input: number): readonly Made[] | undefined {
  switch (idOf(object)) {
    case "v1alpha5 Provisioner":
      return upgradeProvisioner(object, input);
    case "v1alpha1 AWSNodeTemplate":
      return [{ draft: nodeTemplate(object, input) }];
    case "v1beta1 NodePool":
      return [upgradeNodePool(object, input)];
    case `v1beta1 ${NODE_CLASS_KIND}`:
      return [{ draft: nodeClass(object, input) }];
    default:
      return undefined;
  }
}

function nodeTemplate(object: JsonObject, input: number): ManifestDraft {
  const remains = new Remains(object);
  for (const field of ["apiVersion", "kind", "status"]) remains.take([field]);
  const draft = ManifestDraft.empty(input);
  draft.set(["apiVersion"], `${AWS}/v1`);
  draft.set(["kind"], NODE_CLASS_KIND);
  remains.carry(["metadata"], draft, ["metadata"]);
  tidyMetadata(draft);
  takeNodeTemplate(remains, ["spec"], draft);
  noteRemains(remains, [], draft);
  return draft;
}

function nodeClass(object: JsonObject, input: number): ManifestDraft {
  const draft = ManifestDraft.of(object, input);
  draft.set(["apiVersion"], `${AWS}/v1`);
  upgradeNodeClass(draft);
  tidyMetadata(draft);
  return draft;
}

function claimOf(object: unknown, input: number, pools: readonly Made[]): readonly Made[] | undefined {
  if (!isJsonObject(object)) return undefined;
  const id = idOf(object as JsonObject);
  if (id !== "v1alpha5 Machine" && id !== "v1beta1 NodeClaim") return undefined;
  const labels = ["metadata", "labels"];
  const name =
    textAt(object as JsonObject, [...labels, "karpenter.sh/nodepool"]) ??
    textAt(object as JsonObject, [...labels, "karpenter.sh/provisioner-name"]);
  const pool = pools.find(({ draft }) => draft.object["kind"] === "NodePool" && textAt(draft.object, ["metadata", "name"]) === name);
  const expireAfter = pool && textAt(pool.draft.object, [...TEMPLATE_SPEC, "expireAfter"]);
  return [{ draft: upgradeNodeClaim(object as JsonObject, input, expireAfter) }];
}
