import { expect, it } from "vitest";
import { arcZonalShift } from "#adapters/aws/zonal-shift.ts";
import { NotFoundError } from "#core/ports/errors.ts";

const ARN = "arn:aws:eks:us-west-2:111122223333:cluster/prod";

function asked(status: number, body: unknown) {
  const calls: { readonly url: string; readonly headers: Record<string, string> }[] = [];
  const fetch = (async (url: string, { headers }: { headers: Record<string, string> }) => {
    calls.push({ url, headers });
    return new Response(JSON.stringify(body), { status });
  }) as unknown as typeof globalThis.fetch;
  const credentials = { accessKeyId: "AKIATEST", secretAccessKey: "secret" };
  return { calls, arc: arcZonalShift({ region: "us-west-2", credentials, fetch }) };
}

it("the zones of applied shifts are returned", async () => {
  const { calls, arc } = asked(200, {
    arn: ARN,
    zonalShifts: [
      { appliedStatus: "APPLIED", awayFrom: "usw2-az1", expiryTime: 1_800_000_000, zonalShiftId: "1" },
      { appliedStatus: "NOT_APPLIED", awayFrom: "usw2-az2", expiryTime: 1_800_000_000 },
    ],
    autoshifts: [{ appliedStatus: "APPLIED", awayFrom: "usw2-az3", startTime: 1_700_000_000 }],
  });
  expect(await arc.awayFrom(ARN)).toEqual([{ zone: "usw2-az1", until: 1_800_000_000_000 }, { zone: "usw2-az3" }]);
  const [call] = calls;
  expect(call?.url).toBe(
    "https://arc-zonal-shift.us-west-2.amazonaws.com/managedresources/arn%3Aaws%3Aeks%3Aus-west-2%3A111122223333%3Acluster%2Fprod",
  );
  expect(call?.headers["authorization"]).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIATEST\/\d{8}\/us-west-2\/arc-zonal-shift\/aws4_request, /,
  );
});

it.for([
  { status: 404, type: NotFoundError, says: /ARC does not manage arn:aws:eks/ },
  { status: 403, type: Error, says: /GetManagedResource of arn:aws:eks.*: 403 not allowed/ },
])("an answer with status $status becomes an error", async ({ status, type, says }) => {
  const { arc } = asked(status, { message: "not allowed" });
  const error = await arc.awayFrom(ARN).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(type);
  expect(String(error)).toMatch(says);
});
