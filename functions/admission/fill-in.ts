import { withDefaults } from "#core/admission/defaults.ts";
import { additions } from "#core/admission/json-patch.ts";
import { isJsonObject, type JsonObject } from "#core/lib/json.ts";

/** The defaults that an object lacks, as a JSON Patch. No object is refused here. */
export function fillIn({ object }: JsonObject): JsonObject {
  const patch = isJsonObject(object) ? additions(object, withDefaults(object)) : [];
  if (patch.length === 0) return { allowed: true };
  return { allowed: true, patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") };
}
