import { it } from "vitest";
import { sqliteNodeClaimStore } from "#adapters/store/sqlite-store.ts";
import { stackPriceContract } from "./contract.ts";

const open = async () => {
  const store = sqliteNodeClaimStore();
  return { store, close: async () => store.close() };
};

for (const { name, run } of stackPriceContract(open)) it(name, run);
