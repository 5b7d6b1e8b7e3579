import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { nodeClaimStoreContract, record } from "./contract.ts";

describe("the contract of NodeClaimStore", () => {
  const cases = nodeClaimStoreContract("embedded", async () => {
    const store = embeddedNodeClaimStore();
    return { store, close: async () => store.close() };
  });
  for (const { name, run } of cases) {
    it(name, run);
  }
});

it("an embedded store keeps its state in a file, and two connections to the file see one state", async () => {
  const folder = temporaryFolder("claims");
  const file = join(folder, "state.sqlite");
  const [one, two] = [embeddedNodeClaimStore({ path: file }), embeddedNodeClaimStore({ path: file })];
  try {
    const made = await one.create(record("a"));
    const seen = await two.get("c1", "a");
    expect(seen).toEqual(made);
    await two.update(made);
    await expect(one.update(made)).rejects.toThrow("NodeClaim a has changed or gone since version 1 was read.");
  } finally {
    one.close();
    two.close();
  }
  const later = embeddedNodeClaimStore({ path: file });
  expect((await later.get("c1", "a"))?.version).toBe(2);
  later.close();
});
