import { createHash } from "node:crypto";

/** So many hex digits that depend on the text alone: ids that a second run repeats. */
export const hexOf = (text: string, length: number): string => createHash("sha256").update(text).digest("hex").slice(0, length);
