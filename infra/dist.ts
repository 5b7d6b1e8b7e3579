import { join } from "node:path";

/** The root of the checkout, or of the installed package. */
export const ROOT = join(import.meta.dirname, "..");

/** Where the bundles of the functions are, a folder each. */
export const DIST = join(ROOT, "dist");
