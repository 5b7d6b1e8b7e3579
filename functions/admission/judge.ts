import type { Gates } from "#core/admission/gates.ts";
import { review } from "#core/admission/review.ts";
import { conversionWarnings } from "#core/conversion/warnings.ts";
import { isJsonObject, type JsonObject } from "#core/lib/json.ts";

/** The API server cuts longer warnings. */
const MAX_WARNING_LENGTH = 256;
/** The API server drops warnings beyond 4 KB in total, and a longer list helps no reader. */
const MAX_WARNINGS = 12;

/**
 * Whether an object may be written, with all reasons against it at once. Warnings name what is valid but will probably
 * not do what was intended.
 */
export function judge({ object, oldObject }: JsonObject, gates: Gates): JsonObject {
  if (!isJsonObject(object)) return { allowed: true };
  const { problems, warnings } = review(object, isJsonObject(oldObject) ? oldObject : undefined, gates);
  const texts = [...warnings, ...conversionWarnings(object)].slice(0, MAX_WARNINGS).map((text) => text.slice(0, MAX_WARNING_LENGTH));
  return {
    allowed: problems.length === 0,
    ...(problems.length > 0 && { status: { status: "Failure", reason: "Invalid", code: 422, message: problems.join("; ") } }),
    ...(texts.length > 0 && { warnings: texts }),
  };
}
