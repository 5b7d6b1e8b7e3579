import { getAt, isJsonObject, type Json, type JsonObject, listAt, mapAt } from "#core/lib/json.ts";
import { kubeletProblems } from "#core/node-class/kubelet.ts";
import { expressionProblems } from "#core/node-class/kubelet-expressions.ts";
import { requirementProblem } from "#core/requirements/validation.ts";

/**
 * The rules of our CRDs and of an EC2NodeClass's kubelet that an older manifest may break, one sentence for each that
 * is broken: only an API server runs CEL.
 */
export function ruleProblems(object: JsonObject): readonly string[] {
  switch (object["kind"]) {
    case "EC2NodeClass":
      return [
        ...termProblems(object),
        ...imageProblems(object),
        ...kubeletRules(getAt(object, ["spec", "kubelet"])),
        ...deviceProblems(object),
      ];
    case "NodePool":
      return listAt(object, ["spec", "disruption", "budgets"]).flatMap((budget, i) =>
        isJsonObject(budget) && has(budget, "schedule") !== has(budget, "duration")
          ? [`spec.disruption.budgets[${i}]: schedule and duration need each other; add the other, or take this one out`]
          : [],
      );
    case "NodeClaim":
      return listAt(object, ["spec", "requirements"]).flatMap((item) => {
        const problem = requirementProblem(item as unknown as Parameters<typeof requirementProblem>[0]);
        return problem === undefined ? [] : [`spec.requirements: ${problem}`];
      });
    default:
      return [];
  }
}

const kubeletRules = (kubelet: unknown): readonly string[] => [...kubeletProblems(kubelet), ...expressionProblems(kubelet)];

const has = (map: JsonObject, name: string): boolean => (map[name] ?? undefined) !== undefined;

interface TermRule {
  readonly list: string;
  /** A term needs one of these fields. */
  readonly selects: readonly string[];
  /** A term with one of these fields may have no other field. */
  readonly alone: readonly string[];
  /**
   * Whether one term that breaks `alone` is refused; otherwise the list is refused only when all of its terms break it.
   */
  readonly isStrict: boolean;
}

const TERM_RULES: readonly TermRule[] = [
  { list: "subnetSelectorTerms", selects: ["tags", "id"], alone: ["id"], isStrict: false },
  { list: "securityGroupSelectorTerms", selects: ["tags", "id", "name"], alone: ["id", "name"], isStrict: false },
  { list: "amiSelectorTerms", selects: ["tags", "id", "name", "alias", "ssmParameter"], alone: ["id", "alias"], isStrict: true },
];

function termProblems(object: JsonObject): readonly string[] {
  return TERM_RULES.flatMap(({ list, selects, alone, isStrict }) => {
    const terms = listAt(object, ["spec", list]).filter(isJsonObject);
    const where = (i: number): string => `spec.${list}[${i}]`;
    const problems = terms.flatMap((term, i) => [
      ...(selects.some((field) => has(term, field)) ? [] : [`${where(i)} selects nothing; give ${selects.join(", ")}`]),
      ...(Object.entries(mapAt(term, ["tags"])).some(([key, value]) => key === "" || value === "")
        ? [`${where(i)}.tags has an empty key or value; write * for any value`]
        : []),
    ]);
    const crowded = terms.flatMap((term, i) => {
      const first = alone.find((field) => has(term, field) && Object.keys(term).length > 1);
      return first === undefined ? [] : [{ i, first }];
    });
    const [{ i, first } = { i: 0, first: "" }] = crowded;
    const others = crowded.length > 1 ? `, and in ${crowded.length - 1} more` : "";
    const isRefused = crowded.length > 0 && (isStrict || crowded.length === terms.length);
    return [...problems, ...(isRefused ? [`${where(i)}${others}: ${first} stands alone; take it out, or what stands beside it`] : [])];
  });
}

function imageProblems(object: JsonObject): readonly string[] {
  const terms = listAt(object, ["spec", "amiSelectorTerms"]).filter(isJsonObject);
  const hasAlias = terms.some((term) => has(term, "alias"));
  if (hasAlias && terms.length > 1) return ["spec.amiSelectorTerms: an alias is the only term; take out it, or the others"];
  return hasAlias || has(mapAt(object, ["spec"]), "amiFamily")
    ? []
    : ["spec.amiFamily is missing, and no term of amiSelectorTerms has an alias that implies it; name the family of the images"];
}

function deviceProblems(object: JsonObject): readonly string[] {
  const mappings = listAt(object, ["spec", "blockDeviceMappings"]).filter(isJsonObject);
  const roots = mappings.filter((mapping: Json) => mapAt(mapping, [])["rootVolume"] === true).length;
  return [
    ...(roots > 1 ? ["spec.blockDeviceMappings: at most one can be the root volume; take rootVolume off the others"] : []),
    ...mappings.flatMap(({ ebs }, i) =>
      isJsonObject(ebs) && !has(ebs, "volumeSize") && !has(ebs, "snapshotID")
        ? [`spec.blockDeviceMappings[${i}].ebs needs a volumeSize or a snapshotID; add one`]
        : [],
    ),
  ];
}
