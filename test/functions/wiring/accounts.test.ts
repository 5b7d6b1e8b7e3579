import { describe, expect, it } from "vitest";
import { perAccount, wireAccounts } from "#functions/wiring/accounts.ts";
import { parseConfig } from "#settings/config.ts";

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
  it("each role has one set of credentials, and clusters without a role use the functions' own", () => {
    const accountOf = wireAccounts({ config, controller: "lifecycle" });
    const [own, ownToo, theirs, theirsToo, other] = config.clusters.map(accountOf);
    expect(own?.id).toBeUndefined();
    expect(ownToo).toBe(own);
    expect(theirs?.id).toBe("222233334444");
    expect(theirsToo).toBe(theirs);
    expect(other).not.toBe(theirs);
  });

  it("each account has one client", () => {
    let made = 0;
    const clientOf = perAccount(wireAccounts({ config, controller: "lifecycle" }), () => ({ number: ++made }));
    expect(config.clusters.map((cluster) => clientOf(cluster).number)).toEqual([1, 1, 2, 2, 3]);
  });
});
