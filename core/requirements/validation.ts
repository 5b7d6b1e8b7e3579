import { utf8 } from "../lib/fnv.ts";
import { parseInt64 } from "../lib/int64.ts";
import { CAPACITY_TYPE, HOSTNAME, WELL_KNOWN_LABELS } from "../model/labels.ts";
import { OPERATORS } from "./requirement.ts";
import { normalizeKey } from "./requirements.ts";

interface RequirementItem {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
  readonly minValues?: number;
}

const RESTRICTED_DOMAINS = ["karpenter.sh", "karpenter.k8s.aws"];
const KNOWN_VALUES: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [CAPACITY_TYPE, new Set(["on-demand", "spot", "reserved"])],
  ["karpenter.k8s.aws/instance-tenancy", new Set(["default", "dedicated"])],
]);

const NAME_PART = /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;
const DOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Whether a text can be a label key or a resource name: "name" or "domain/name". */
export function isQualifiedName(text: string): boolean {
  const slash = text.indexOf("/");
  if (slash < 0) return NAME_PART.test(text);
  const domain = text.slice(0, slash);
  return domain.length <= 253 && DOMAIN.test(domain) && NAME_PART.test(text.slice(slash + 1));
}

export function isLabelValue(text: string): boolean {
  return text === "" || NAME_PART.test(text);
}

/**
 * Labels that only the system may set: the hostname, and labels in Karpenter's domains that are not well-known
 * (karpenter: pkg/apis/v1/labels.go, IsRestrictedLabel). The CRDs compare only how the text before the first slash
 * ends, so they also refuse "karpenter.sh" without a slash, and "my-karpenter.sh/x".
 */
export function isRestrictedLabel(key: string): boolean {
  if (WELL_KNOWN_LABELS.has(key)) return false;
  if (key === HOSTNAME) return true;
  const [domain = ""] = key.split("/", 1);
  return RESTRICTED_DOMAINS.some((restricted) => domain.endsWith(restricted));
}

/** Requirements that a NodeClaim takes; labels become requirements, too. */
export const MAX_REQUIREMENTS = 100;

/**
 * Characters of all values that a NodeClaim's requirements take, without those of its instance types. The API server
 * takes a megabyte; a record of the table holds 400 KB, and annotations may fill 256 KB of it.
 */
export const MAX_VALUE_CHARACTERS = 64 * 1024;

/** All annotations of one object, keys and values (kubernetes: apimachinery, TotalAnnotationSizeLimitB). */
export const MAX_ANNOTATION_BYTES = 256 * 1024;

export function annotationBytes(annotations: Readonly<Record<string, string>> = {}): number {
  return Object.entries(annotations).reduce((sum, texts) => sum + utf8(texts.join("")).length, 0);
}

/** The CRDs' bound of a requirement's key; a label key may have one character more: 253, a slash and 63. */
const MAX_KEY = 316;

/** Why a NodeClaim cannot ask for a label, whatever the values mean; undefined when it can. */
export function unwritable({ key, values = [] }: Pick<RequirementItem, "key" | "values">): string | undefined {
  if (!isQualifiedName(key)) return `"${key}" is not a label key`;
  if (key.length > MAX_KEY) return `label ${shortened(key)} has a key of more than ${MAX_KEY} characters, which no NodeClaim can ask for`;
  if (isRestrictedLabel(normalizeKey(key)))
    return `label ${key} is restricted and cannot be required; use a well-known label or one of your own`;
  const value = values.find((text) => !isLabelValue(text));
  return value === undefined ? undefined : `${key} has "${shortened(value)}", which is not a label value`;
}

const MAX_SHOWN = 80;
const shortened = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);

/**
 * What is wrong with a requirement; undefined when nothing is. The same rules hold for NodePools and for pods'
 * selectors and node affinity (karpenter: pkg/apis/v1/nodeclaim_validation.go, ValidateRequirement).
 */
export function requirementProblem({ key: written, operator, values = [], minValues }: RequirementItem): string | undefined {
  const key = normalizeKey(written);
  if (!OPERATORS.has(operator)) return `key ${written} has an unsupported operator "${operator}"; use one of ${[...OPERATORS].join(", ")}`;
  const problem = unwritable({ key: written, values });
  if (problem !== undefined) return problem;
  if (operator === "In" && values.length === 0) return `key ${written} with operator In must list at least one value`;
  if (operator === "In" && minValues !== undefined && values.length < minValues) {
    return `key ${written} lists ${values.length} values, fewer than its minValues ${minValues}`;
  }
  if (["Gt", "Lt", "Gte", "Lte"].includes(operator) && (values.length !== 1 || (parseInt64(values[0] ?? "") ?? -1n) < 0n)) {
    return `key ${written} with operator ${operator} takes exactly one integer from 0 to 9223372036854775807`;
  }
  const known = KNOWN_VALUES.get(key);
  if (operator === "In" && known !== undefined) {
    const valid = values.filter((value) => known.has(value)).length;
    if (valid === 0) return `key ${written} allows none of the values that exist: ${[...known].join(", ")}`;
    if (minValues !== undefined && valid < minValues)
      return `key ${written} lists ${valid} values that exist, fewer than its minValues ${minValues}`;
  }
  return undefined;
}
