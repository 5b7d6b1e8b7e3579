import { convertObject } from "#core/conversion/convert.ts";
import type { JsonObject } from "#core/lib/json.ts";

/**
 * Converts the objects of a ConversionReview to the wanted version. One object that cannot be converted fails the whole
 * review, as the API server requires.
 */
export function convertAll({ desiredAPIVersion, objects }: JsonObject): JsonObject {
  const convertedObjects: JsonObject[] = [];
  for (const object of Array.isArray(objects) ? objects : []) {
    const converted = convertObject(object, String(desiredAPIVersion));
    if ("error" in converted) return { result: { status: "Failure", message: converted.error } };
    convertedObjects.push(converted.ok);
  }
  return { convertedObjects, result: { status: "Success" } };
}
