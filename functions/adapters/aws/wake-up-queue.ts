import { setTimeout as sleep } from "node:timers/promises";
import { SendMessageBatchCommand, type SendMessageBatchRequestEntry, SQSClient } from "@aws-sdk/client-sqs";
import * as z from "zod/mini";
import type { WakeUp, WakeUps } from "../../../core/ports/wake-ups.ts";
import { MalformedMessageError } from "../batch.ts";
import type { QueueUrls } from "../config.ts";

/** SQS's longest delay of a message, s. */
const MAX_DELAY_SECONDS = 900;
const MAX_BATCH = 10;
const MAX_ROUNDS = 4;

/** The variable that holds a queue's URL, for the sentence about a missing one. */
const VARIABLE: Readonly<Record<WakeUp["kind"], string>> = {
  provision: "PROVISION_QUEUE_URL",
  claim: "CLAIM_QUEUE_URL",
  disruption: "DISRUPTION_QUEUE_URL",
  catalog: "CATALOG_QUEUE_URL",
};

const delayMsOf = (wakeUp: WakeUp): number => ("delayMs" in wakeUp && wakeUp.delayMs) || 0;
const subjectOf = (wakeUp: WakeUp): string => [wakeUp.kind, wakeUp.cluster, wakeUp.kind === "claim" ? wakeUp.claim : ""].join("/");

/** One wake-up for each thing to look at, the soonest: whoever is woken reads the present state anyway. */
function folded(wakeUps: readonly WakeUp[]): readonly WakeUp[] {
  const bySubject = new Map<string, WakeUp>();
  for (const wakeUp of wakeUps) {
    const other = bySubject.get(subjectOf(wakeUp));
    if (other === undefined || delayMsOf(wakeUp) < delayMsOf(other)) {
      bySubject.set(subjectOf(wakeUp), wakeUp);
    }
  }
  return [...bySubject.values()];
}

function entryOf(wakeUp: WakeUp, id: number, windowNumber: number): SendMessageBatchRequestEntry {
  // The delay is the queue's business; to who is woken it says nothing.
  const { delayMs: _, ...body } = { delayMs: 0, ...wakeUp };
  const entry = { Id: String(id), MessageBody: JSON.stringify(body) };
  if (wakeUp.kind === "provision") {
    // Wake-ups of one window become one message. None is lost: the queue holds each back for as long as the window is, so what
    // it leads to begins after all that it stands for.
    return { ...entry, MessageGroupId: wakeUp.cluster, MessageDeduplicationId: `${wakeUp.cluster}-${windowNumber}` };
  }
  // Rounded up: who comes early finds nothing due.
  const delaySeconds = Math.min(MAX_DELAY_SECONDS, Math.max(0, Math.ceil(delayMsOf(wakeUp) / 1_000)));
  return { ...entry, DelaySeconds: delaySeconds };
}

/**
 * Wake-ups as SQS messages: `provision` to a FIFO queue with one group a cluster, the others to standard queues with a delay.
 * `queues` must hold the URL of each kind that is sent. `windowSeconds`, 1 unless given, is the delay that the FIFO queue was made with; `now` (ms)
 * only chooses the window.
 */
export function sqsWakeUps(options: {
  readonly queues: QueueUrls;
  readonly windowSeconds?: number;
  readonly now: () => number;
  readonly client?: SQSClient;
}): WakeUps {
  const client = options.client ?? new SQSClient({ requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000 } });

  async function send(url: string, entries: readonly SendMessageBatchRequestEntry[]): Promise<void> {
    let left = [...entries];
    for (let round = 0; left.length > 0; round++) {
      if (round > 0) {
        await sleep(50 * 2 ** round);
      }
      const { Failed: failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries: left }));
      const hopeless = failed.find(({ SenderFault }) => SenderFault) ?? (round + 1 === MAX_ROUNDS ? failed[0] : undefined);
      if (hopeless !== undefined) {
        throw new Error(`Queue ${url} refused a wake-up: ${hopeless.Code ?? "no code"} ${hopeless.Message ?? ""}`.trimEnd());
      }
      left = left.filter(({ Id }) => failed.some((failure) => failure.Id === Id));
    }
  }

  return {
    async wake(wakeUps) {
      const windowNumber = Math.floor(options.now() / ((options.windowSeconds ?? 1) * 1_000));
      const sends: Promise<void>[] = [];
      for (const [kind, ofKind] of Map.groupBy(folded(wakeUps), (wakeUp) => wakeUp.kind)) {
        const url = options.queues[kind];
        if (url === undefined) {
          throw new Error(`${VARIABLE[kind]}: is missing, so nobody can be woken for ${kind}; set it to the queue's URL.`);
        }
        for (let start = 0; start < ofKind.length; start += MAX_BATCH) {
          const batch = ofKind.slice(start, start + MAX_BATCH);
          sends.push(
            send(
              url,
              batch.map((wakeUp, i) => entryOf(wakeUp, i, windowNumber)),
            ),
          );
        }
      }
      await Promise.all(sends);
    },
  };
}

const word = z.string().check(z.minLength(1));
const wakeUp = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("provision"), cluster: word, reason: z.string() }),
  z.object({ kind: z.literal("disruption"), cluster: word, reason: z.string() }),
  z.object({ kind: z.literal("catalog"), cluster: word, reason: z.string() }),
  z.object({ kind: z.literal("claim"), cluster: word, claim: word, dueAt: z.optional(z.number()) }),
]);

/** Reads the body of one of our own messages; fields that it does not know are left out. Throws MalformedMessageError with a sentence. */
export function parseWakeUp(body: string): WakeUp {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw new MalformedMessageError(`A wake-up must be JSON, not ${excerpt(body)}.`);
  }
  const parsed = wakeUp.safeParse(json);
  if (!parsed.success) {
    const field = parsed.error.issues[0]?.path.join(".");
    const wanted = field === "kind" || !field ? '"kind": provision, disruption, catalog or claim' : `a text in "${field}"`;
    throw new MalformedMessageError(`A wake-up must have ${wanted}; this one is ${excerpt(body)}.`);
  }
  // The cast drops `| undefined` from optional keys: JSON has no undefined.
  return parsed.data as WakeUp;
}

const excerpt = (body: string): string => JSON.stringify(body.length > 120 ? `${body.slice(0, 120)}…` : body);
