import { it } from "vitest";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import { stackPriceContract } from "./contract.ts";

const open = async () => {
  const store = embeddedNodeClaimStore();
  return { store, close: async () => store.close() };
};

for (const { name, run } of stackPriceContract(open)) it(name, run);
