import { convertObject } from "../../core/conversion/convert.ts";
import type { JsonObject } from "../../core/lib/json.ts";

/** The objects of a ConversionReview in the version wanted. One that cannot be had fails them all, as the API server wants it. */
export function convertAll({ desiredAPIVersion, objects }: JsonObject): JsonObject {
  const convertedObjects: JsonObject[] = [];
  for (const object of Array.isArray(objects) ? objects : []) {
    const converted = convertObject(object, String(desiredAPIVersion));
    if ("error" in converted) return { result: { status: "Failure", message: converted.error } };
    convertedObjects.push(converted.ok);
  }
  return { convertedObjects, result: { status: "Success" } };
}
