import { type RequestPacer, sharedRequestPace } from "#adapters/aws/request-pace.ts";
import type { Account } from "./accounts.ts";
import type { Base } from "./base.ts";

/**
 * The pace of requests to EC2 in an account, which all functions and clusters of the stack share.
 * @param isBackground whether no user waits for this function's requests
 */
export function wireRequestPace({ config, store, now, metrics, log }: Base, account: Account, isBackground = false): RequestPacer {
  return sharedRequestPace({
    ...{ store, now, isBackground, log, account: `${account.id ?? ownAccount(config)}/${config.region}` },
    onWait: (action, ms) => metrics.observe("cloudprovider_request_wait_seconds", { action }, ms / 1_000),
  });
}

/** The account of the functions: that of their queues, whose URLs end with /ACCOUNT/NAME. */
function ownAccount({ queues }: Pick<Base["config"], "queues">): string {
  const url = Object.values(queues).find((one) => one !== undefined) ?? "";
  return /\/(\d{12})\/[^/]+$/.exec(url)?.[1] ?? "own";
}
