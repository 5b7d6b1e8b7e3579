import type { Note } from "../../core/conversion/draft.ts";
import { getAt, isJsonObject, type Json, type JsonObject, type Path } from "../../core/conversion/json.ts";
import { manifestProblems } from "../hosts/lab/manifest-check.ts";
import { holdsPlaceholder } from "./convert-placeholders.ts";

/** What our CRDs find wrong with an object, as notes. What only a filled-in placeholder can decide is passed over. */
export function invalidities(object: JsonObject): readonly Note[] {
  return manifestProblems(withoutOpenRequirements(object) as JsonObject)
    .filter(({ path, message }) => !holdsPlaceholder(message) && !decidesLater(object, path))
    .map(({ path, message }) => ({
      level: "invalid",
      at: path,
      text: message.startsWith("spec.") ? message : `${dotted(path)} ${message}`,
    }));
}

/** Rules for all of a pool's requirements do not name the item: those that hold placeholders are not judged. */
function withoutOpenRequirements(value: Json): Json {
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([name, one]): [string, Json] =>
    name === "requirements" && Array.isArray(one)
      ? [name, one.filter((item) => !holdsPlaceholder(item))]
      : [name, withoutOpenRequirements(one)],
  );
  return Object.fromEntries(entries);
}

function decidesLater(object: JsonObject, path: Path): boolean {
  const value = getAt(object, path);
  return !isJsonObject(value) && holdsPlaceholder(value);
}

const dotted = (path: Path): string =>
  path.reduce<string>((text, step) => (typeof step === "number" ? `${text}[${step}]` : text === "" ? step : `${text}.${step}`), "");

const OLD_NAMES: Readonly<Record<string, string>> = {
  "karpenter.sh/provisioner-name": "nodes have no such label any more; write karpenter.sh/nodepool",
  "karpenter.sh/do-not-evict": "it is no longer read; write karpenter.sh/do-not-disrupt",
  "karpenter.sh/do-not-consolidate": "it is no longer read; write karpenter.sh/do-not-disrupt",
  "karpenter.k8s.aws/instance-pods": "nodes have no such label any more; select by another, such as karpenter.k8s.aws/instance-cpu",
};

/** Labels and annotations in another's object (a Deployment's) that no longer mean anything. */
export function oldNames(object: JsonObject): readonly string[] {
  const text = JSON.stringify(object);
  return Object.entries(OLD_NAMES).flatMap(([name, advice]) => (text.includes(`"${name}"`) ? [`${name}: ${advice}`] : []));
}
