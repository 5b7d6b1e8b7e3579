import { writeFileSync } from "node:fs";
import { measureBill } from "./measure.ts";

// `npm run -s measure-bill` plays hours of clusters in the lab, and writes what AWS would bill for them to
// cli/cost/measured.json, which `cost` computes with.

const SIZES = [0, 20, 100, 400];
const file = new URL("../../../cli/cost/measured.json", import.meta.url);
const rounded = (_: string, value: unknown): unknown => (typeof value === "number" ? Number(value.toPrecision(6)) : value);
writeFileSync(file, `${JSON.stringify(await measureBill(SIZES), rounded, 2)}\n`);
