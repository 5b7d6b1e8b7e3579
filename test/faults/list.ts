import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Fault } from "./fault.ts";

const FOLDER = join(import.meta.dirname, "areas");

/** The areas of the product; each has a file in areas/. */
export const AREAS: readonly string[] = readdirSync(FOLDER)
  .map((file) => file.replace(/\.ts$/, ""))
  .sort();

export async function faultsOf(area: string): Promise<readonly Fault[]> {
  const { FAULTS } = (await import(join(FOLDER, `${area}.ts`))) as { readonly FAULTS: readonly Fault[] };
  return FAULTS;
}
