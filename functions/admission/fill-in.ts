import { withDefaults } from "../../core/admission/defaults.ts";
import { type Fields, isFields } from "../../core/admission/fields.ts";
import { additions } from "../../core/admission/json-patch.ts";

/** The defaults that an object lacks, as a JSON Patch. No object is refused here. */
export function fillIn({ object }: Fields): Fields {
  const patch = isFields(object) ? additions(object, withDefaults(object)) : [];
  if (patch.length === 0) return { allowed: true };
  return { allowed: true, patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") };
}
