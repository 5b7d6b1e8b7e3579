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
const DOMAIN = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/;

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
 * (karpenter: pkg/apis/v1/labels.go, IsRestrictedLabel).
 */
export function isRestrictedLabel(key: string): boolean {
  if (WELL_KNOWN_LABELS.has(key)) return false;
  if (key === HOSTNAME) return true;
  const domain = key.includes("/") ? key.slice(0, key.indexOf("/")) : "";
  return RESTRICTED_DOMAINS.some((restricted) => domain === restricted || domain.endsWith(`.${restricted}`));
}

/**
 * What is wrong with a requirement; undefined when nothing is. The same rules hold for NodePools and for pods'
 * selectors and node affinity (karpenter: pkg/apis/v1/nodeclaim_validation.go, ValidateRequirement).
 */
export function requirementProblem({ key: written, operator, values = [], minValues }: RequirementItem): string | undefined {
  const key = normalizeKey(written);
  if (!OPERATORS.has(operator)) return `key ${written} has an unsupported operator "${operator}"; use one of ${[...OPERATORS].join(", ")}`;
  if (isRestrictedLabel(key)) return `label ${written} is restricted and cannot be required; use a well-known label or one of your own`;
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
