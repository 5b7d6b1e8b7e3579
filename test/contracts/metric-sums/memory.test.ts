import { it } from "vitest";
import { memoryMetricSums } from "../../support/metric-sums.ts";
import { metricSumsContract } from "./contract.ts";

for (const { name, run } of metricSumsContract(async () => memoryMetricSums())) it(`sums of metrics in memory: ${name}`, run);
