import type { Pod } from "../../model/pod.ts";
import { normalizeKey } from "../../requirements/requirements.ts";
import { requiredTerms } from "../rules/preferences.ts";
import { listed } from "./words.ts";

/** The contradicting requirements of a pod on one label, as its manifest has them. */
export function contradictionText({ spec }: Pod, key: string): string {
  const selector = Object.entries(spec.nodeSelector ?? {}).flatMap(([name, value]) =>
    normalizeKey(name) === key ? [`${name}=${value}`] : [],
  );
  const written = requiredTerms(spec).flatMap(({ matchExpressions }) =>
    (matchExpressions ?? []).flatMap(({ key: name, operator, values = [] }) =>
      normalizeKey(name) === key ? [[name, operator, ...(values.length > 0 ? [`[${values.join(", ")}]`] : [])].join(" ")] : [],
    ),
  );
  return `the pod's own demands exclude each other: ${listed([...new Set([...selector, ...written])])}; no node has a ${key} that meets all of them, so change one`;
}
