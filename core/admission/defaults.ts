import { type Fields, isFields } from "./fields.ts";

/**
 * The object with the defaults of its v1 kind (nodepool.md §1, ec2nodeclass.md §1) filled in; the same object when nothing is missing. The schemas of our
 * CRDs hold most of them too, but the API server applies only those of the version that was sent, which may be v1beta1, and other CRDs may be
 * installed. `consolidateAfter` of a disruption block that lacks it is here alone: the schema refuses that as Karpenter 1.14 does, later
 * Karpenter fills it in.
 *
 * What follows from other fields (a family from its alias, disks from a family) is left out on purpose: written down, it would contradict the
 * next edit of those fields. Objects are as people wrote them: what has not the expected shape is left for the schema to refuse.
 */
export function withDefaults(object: Fields): Fields {
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

function withTemplate(spec: Fields): Fields {
  return at(spec, "template", (template) => at(template, "spec", (inner) => fill(inner, { expireAfter: "720h" })));
}

function withDisruption(spec: Fields): Fields {
  const whole = { ...spec, disruption: spec["disruption"] ?? {} };
  return at(whole, "disruption", (disruption) => {
    const filled = fill(disruption, {
      consolidateAfter: "0s",
      consolidationPolicy: "WhenEmptyOrUnderutilized",
      budgets: [{ nodes: "10%" }],
    });
    const { budgets } = filled;
    if (!Array.isArray(budgets)) return filled;
    return { ...filled, budgets: budgets.map((budget: unknown) => (isFields(budget) ? fill(budget, { nodes: "10%" }) : budget)) };
  });
}

function withMetadataOptions(options: Fields): Fields {
  return fill(options, { httpEndpoint: "enabled", httpProtocolIPv6: "disabled", httpPutResponseHopLimit: 1, httpTokens: "required" });
}

/** Null counts as absent, as it does for the API server's own defaults. */
function fill(fields: Fields, defaults: Fields): Fields {
  const missing = Object.entries(defaults).filter(([key]) => fields[key] === undefined || fields[key] === null);
  return missing.length === 0 ? fields : { ...fields, ...Object.fromEntries(missing) };
}

function at(fields: Fields, key: string, change: (inner: Fields) => Fields): Fields {
  const inner = fields[key];
  return isFields(inner) ? { ...fields, [key]: change(inner) } : fields;
}
