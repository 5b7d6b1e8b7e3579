import { writeFileSync } from "node:fs";
import { measureBill } from "./measure.ts";

// `npm run -s verify -- bill` plays hours of clusters in the lab, and writes what AWS would bill for them to
// cli/cost/measured.json, which `cost` computes with.

const SIZES = [0, 20, 100, 400];
const file = new URL("../../../cli/cost/measured.json", import.meta.url);
const rounded = (_: string, value: unknown): unknown => (typeof value === "number" ? Number(value.toPrecision(6)) : value);
const measured = await measureBill(SIZES);
writeFileSync(file, `${JSON.stringify(measured, rounded, 2)}\n`);
const { entries, bytes, writes } = measured.historyOfNode;
const each = (total: number): string => (total / entries).toFixed(1);
process.stdout.write(
  `The history of a node that comes and goes: ${entries} entries, ${Math.round(bytes)} bytes, ${writes} write units; of each entry ${each(bytes)} bytes, ${each(writes)} write units.\n`,
);
