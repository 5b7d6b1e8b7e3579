import { createHash } from "node:crypto";

/** `length` hex digits of the text's hash, so that a second run makes the same ids. */
export const hexOf = (text: string, length: number): string => createHash("sha256").update(text).digest("hex").slice(0, length);
