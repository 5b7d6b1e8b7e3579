import { getAt, isJsonObject, type JsonObject } from "../lib/json.ts";

type Part = readonly [path: string, type: "an object" | "a list"];

const NODE_POOL: readonly Part[] = [
  ["spec", "an object"],
  ["spec.template", "an object"],
  ["spec.template.spec", "an object"],
  ["spec.template.spec.requirements", "a list"],
  ["spec.template.spec.nodeClassRef", "an object"],
];

/** Required parts by kind, each after the parts that hold it. */
const PARTS: ReadonlyMap<unknown, readonly Part[]> = new Map<unknown, readonly Part[]>([
  ["NodePool", NODE_POOL],
  ["EC2NodeClass", [["spec", "an object"]]],
  [
    "NodeOverlay",
    [
      ["spec", "an object"],
      ["spec.requirements", "a list"],
    ],
  ],
]);

/**
 * What keeps an object from being reviewed, in one sentence: its first required part that is missing or of another
 * type. The API server refuses such an object by the schema of the CRD, unless an older CRD is installed.
 */
export function shapeProblem(object: JsonObject): string | undefined {
  for (const [path, type] of PARTS.get(object["kind"]) ?? []) {
    const value = getAt(object, path.split("."));
    const isRight = type === "a list" ? Array.isArray(value) : isJsonObject(value);
    if (!isRight) return `${path} ${value === undefined ? "is missing" : "has another type"}; it must be ${type}`;
  }
  return undefined;
}
