import { isMime, parseMime } from "../launch/mime.ts";
import { parseToml } from "../launch/toml.ts";
import { USER_DATA_LIMIT } from "../launch/user-data.ts";
import type { AmiFamily } from "../model/node-class.ts";

/** User data that cannot be merged with the family's own, or that EC2 would refuse. */
export function userDataProblems(text: string | undefined, family: AmiFamily): readonly string[] {
  if (text === undefined) return [];
  const bytes = utf8Length(text);
  const size =
    bytes > USER_DATA_LIMIT
      ? [`spec.userData has ${bytes} bytes, EC2 takes ${USER_DATA_LIMIT} with what is added to it; fetch the rest from elsewhere at boot`]
      : [];
  return [...size, ...shapeProblems(text, family)];
}

function shapeProblems(text: string, family: AmiFamily): readonly string[] {
  try {
    if (family === "Bottlerocket") parseToml(text);
    else if ((family === "AL2" || family === "AL2023") && isMime(text)) parseMime(text);
    return [];
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [`spec.userData: ${error.message.replace(/^userData /, "")}`];
  }
}

/** The length in UTF-8 bytes; the core has neither Buffer nor TextEncoder. */
function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}
