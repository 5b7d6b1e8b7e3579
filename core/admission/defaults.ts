import { isJsonObject, type Json, type JsonObject } from "../lib/json.ts";

/**
 * The object with the defaults of its v1 kind; the same object when none is missing. The schemas of our CRDs hold most
 * defaults too. The API server, however, applies only the defaults of the submitted version, which may be v1beta1, and
 * other CRDs may be installed: those of Karpenter 1.14 refuse a disruption block without `consolidateAfter`.
 *
 * Values that follow from other fields (a family from its alias, devices from a family) are not written, because they
 * would contradict the next edit of these fields. A field that has not the expected shape is left for the schema to
 * refuse.
 */
export function withDefaults(object: JsonObject): JsonObject {
  switch (object["kind"]) {
    case "NodePool":
      return at(object, "spec", (spec) => withTemplate(withDisruption(spec)));
    case "EC2NodeClass":
      return at(object, "spec", (spec) =>
        at({ ...spec, metadataOptions: spec["metadataOptions"] ?? {} }, "metadataOptions", withMetadataOptions),
      );
    default:
      return object;
  }
}

function withTemplate(spec: JsonObject): JsonObject {
  return at(spec, "template", (template) => at(template, "spec", (inner) => fill(inner, { expireAfter: "720h" })));
}

function withDisruption(spec: JsonObject): JsonObject {
  const whole = { ...spec, disruption: spec["disruption"] ?? {} };
  return at(whole, "disruption", (disruption) => {
    const filled = fill(disruption, {
      consolidateAfter: "0s",
      consolidationPolicy: "WhenEmptyOrUnderutilized",
      budgets: [{ nodes: "10%" }],
    });
    const { budgets } = filled;
    if (!Array.isArray(budgets)) return filled;
    return { ...filled, budgets: budgets.map((budget: Json) => (isJsonObject(budget) ? fill(budget, { nodes: "10%" }) : budget)) };
  });
}

function withMetadataOptions(options: JsonObject): JsonObject {
  return fill(options, { httpEndpoint: "enabled", httpProtocolIPv6: "disabled", httpPutResponseHopLimit: 1, httpTokens: "required" });
}

/** Null counts as absent, as for the API server's own defaults. */
function fill(fields: JsonObject, defaults: JsonObject): JsonObject {
  const missing = Object.entries(defaults).filter(([key]) => fields[key] === undefined || fields[key] === null);
  return missing.length === 0 ? fields : { ...fields, ...Object.fromEntries(missing) };
}

function at(fields: JsonObject, key: string, change: (inner: JsonObject) => JsonObject): JsonObject {
  const inner = fields[key];
  return isJsonObject(inner) ? { ...fields, [key]: change(inner) } : fields;
}
