import { readRequestPace } from "#core/model/request-pace.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import type { TableRequests } from "./table-requests.ts";
import { ttlOf } from "./versioned-items.ts";

/** A request to EC2 waits for the answer, and the pace of one function alone is better than none in time. */
const TIMEOUT_MS = 1_000;
/** A bucket that nobody has drawn from for a day is full; its item goes by TTL. */
const KEPT_SECONDS = 86_400;

/**
 * The buckets of requests, one item of some 150 bytes each: `pace#ACCOUNT/REGION/ACTION`. The item that is in the way
 * of a write comes back with the refusal, so that no read is needed. A write that the SDK repeats after a lost answer
 * is refused by the first, and what it drew is lost.
 */
export const storedRequestPace = (requests: Pick<TableRequests, "write">): Pick<NodeClaimStore, "swapPace"> => ({
  async swapPace(bucket, pace) {
    const item = { pk: `pace#${bucket}`, sk: "pace", ...pace, version: pace.version + 1, ttl: ttlOf(pace.countedAt) + KEPT_SECONDS };
    const condition = pace.version === 0 ? { notNumber: "version" } : { attribute: "version", equals: pace.version };
    const result = await requests.write({ put: item, if: condition }, { timeoutMs: TIMEOUT_MS });
    return result.isWritten ? undefined : (readRequestPace(result.item) ?? "nothing");
  },
});
