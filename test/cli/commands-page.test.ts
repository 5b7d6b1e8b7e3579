import { expect, it } from "vitest";
import { commandsPage } from "./commands-page.ts";

it("docs/commands.md is what the tables of arguments say", async () => {
  await expect(await commandsPage()).toMatchFileSnapshot("../../docs/commands.md");
});
