import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry, type PutEventsResultEntry } from "@aws-sdk/client-eventbridge";

/** A module of its own, so that functions that announce nothing do not load the client at cold start. */

export type PutEvents = (entries: readonly PutEventsRequestEntry[], signal: AbortSignal) => Promise<readonly PutEventsResultEntry[]>;

/** Sends one PutEvents; the results are in the order of the entries. */
export function eventBridge(): PutEvents {
  const client = new EventBridgeClient({ maxAttempts: 2, requestHandler: { connectionTimeout: 500, requestTimeout: 1_000 } });
  return async (entries, abortSignal) => {
    const { Entries = [] } = await client.send(new PutEventsCommand({ Entries: [...entries] }), { abortSignal });
    return Entries;
  };
}
