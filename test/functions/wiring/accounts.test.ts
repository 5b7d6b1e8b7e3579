import { describe, expect, it } from "vitest";
import { parseConfig } from "../../../functions/adapters/config.ts";
import { perAccount, wireAccounts } from "../../../functions/wiring/accounts.ts";

const role = (name: string): string => `arn:aws:iam::222233334444:role/${name}`;
const config = parseConfig({
  TABLE_NAME: "table",
  CLUSTERS: JSON.stringify([
    { name: "own" },
    { name: "own-too" },
    { name: "theirs", roleArn: role("a"), externalId: "id" },
    { name: "theirs-too", roleArn: role("a"), externalId: "id" },
    { name: "by-another-role", roleArn: role("b") },
  ]),
});

describe("accounts", () => {
  it("are reached by one set of credentials a role, our own where none is named", () => {
    const accountOf = wireAccounts({ config, controller: "lifecycle" });
    const [own, ownToo, theirs, theirsToo, other] = config.clusters.map(accountOf);
    expect(own?.id).toBeUndefined();
    expect(ownToo).toBe(own);
    expect(theirs?.id).toBe("222233334444");
    expect(theirsToo).toBe(theirs);
    expect(other).not.toBe(theirs);
  });

  it("have one client each", () => {
    let made = 0;
    const clientOf = perAccount(wireAccounts({ config, controller: "lifecycle" }), () => ({ number: ++made }));
    expect(config.clusters.map((cluster) => clientOf(cluster).number)).toEqual([1, 1, 2, 2, 3]);
  });
});
