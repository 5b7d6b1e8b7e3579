import { expect, it } from "vitest";
import { playCode } from "./play.ts";
import { broken, messageOf } from "./rules.ts";

/** One of each kind; `npm run -s verify -- ec2-errors` plays all codes. */
it.for([
  "InsufficientInstanceCapacity",
  "VcpuLimitExceeded",
  "MaxSpotInstanceCountExceeded",
  "InsufficientFreeAddressesInSubnet",
  "InstanceLimitExceeded",
  "PendingVerification",
  "UnauthorizedOperation",
  "OptInRequired",
  "InvalidParameterValue",
  "Unsupported",
  "InternalError",
  "VpcCidrConflict",
])("pod, event, NodeClaim, why and page name %s and say what to do", async (code) => {
  const seen = await playCode(code, messageOf(code));
  expect(broken(code, seen)).toEqual([]);
});

it("the rules find a text without the code, without the remedy, and one that speaks of capacity", () => {
  const said = "it waits for want of capacity; allow more types";
  const seen = { pod: said, event: said, claim: said, why: said, page: said };
  expect(broken("VcpuLimitExceeded", seen)).toHaveLength(15);
});
