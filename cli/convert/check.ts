import { review } from "#core/admission/review.ts";
import type { Note } from "#core/conversion/draft.ts";
import { settingsAdvice } from "#core/conversion/upgrade/settings.ts";
import { getAt, isJsonObject, type Json, type JsonObject, type Path } from "#core/lib/json.ts";
import { manifestProblems } from "#manifests/check.ts";
import { fieldPath } from "#manifests/schema.ts";
import { holdsPlaceholder } from "./placeholders.ts";
import { ruleProblems } from "./rules.ts";

/**
 * The objections and warnings of the API server and of our admission function about an object. A field whose
 * placeholder is not filled in yet is not judged.
 */
export function findings(object: JsonObject): readonly Note[] {
  const decided = withoutOpenRequirements(object) as JsonObject;
  const raw = manifestProblems(decided);
  const problems = raw
    .filter(({ path, message }) => !holdsPlaceholder(message) && !decidesLater(object, path))
    .map(({ path, message }) => invalid(path, message.startsWith("spec.") ? message : `${fieldPath(path)} ${message}`));
  const rules = problems.length > 0 ? [] : ruleProblems(decided).filter((message) => !holdsPlaceholder(message));
  // The admission function only sees what the schema lets through.
  const warnings = raw.length > 0 || rules.length > 0 ? [] : review(decided).warnings.filter((message) => !holdsPlaceholder(message));
  return [
    ...problems,
    ...rules.map((message) => invalid(["spec"], message)),
    ...warnings.map((text): Note => ({ level: "act", at: ["spec"], text })),
  ];
}

const invalid = (at: Path, text: string): Note => ({ level: "invalid", at, text });

/**
 * Leaves out requirements that hold placeholders, because the rules about all requirements of a pool do not name the
 * item.
 */
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

const OLD_NAMES: Readonly<Record<string, string>> = {
  "karpenter.sh/provisioner-name": "nodes have no such label any more; write karpenter.sh/nodepool",
  "karpenter.sh/do-not-evict": "it is no longer read; write karpenter.sh/do-not-disrupt",
  "karpenter.sh/do-not-consolidate": "it is no longer read; write karpenter.sh/do-not-disrupt",
  "karpenter.k8s.aws/instance-pods": "nodes have no such label any more; select by another, such as karpenter.k8s.aws/instance-cpu",
};

/**
 * Advice about an object of another kind (a Deployment) that names old labels or annotations, and about Karpenter's old
 * settings.
 */
export function outdated(object: JsonObject): readonly string[] {
  const text = JSON.stringify(object);
  const settings = settingsAdvice(object);
  if (settings !== undefined) return [settings];
  return Object.entries(OLD_NAMES).flatMap(([name, advice]) => (text.includes(`"${name}"`) ? [`${name}: ${advice}`] : []));
}
