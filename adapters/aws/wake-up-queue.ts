import { setTimeout as sleep } from "node:timers/promises";
import { SendMessageBatchCommand, type SendMessageBatchRequestEntry, SQSClient } from "@aws-sdk/client-sqs";
import * as z from "zod/mini";
import { type CauseKind, reasonText, WAKE_UP_CAUSES, type WakeUpReason } from "#core/ports/wake-up-causes.ts";
import { PLAN_HELD_BACK_MS, type WakeUp, type WakeUps } from "#core/ports/wake-ups.ts";
import type { QueueUrls } from "#settings/config.ts";
import { MalformedMessageError } from "../lambda/batch.ts";

/** SQS's longest delay of a message, in seconds. */
const MAX_DELAY_SECONDS = 900;
/** SQS's largest batch. */
const MAX_MESSAGES_PER_CALL = 10;
/** Calls for one batch, the first included, until a message that the queue does not take is an error. */
const MAX_SEND_ROUNDS = 4;

type WakeUpQueue = Exclude<keyof QueueUrls, "interruption">;

/** The variable that holds a queue's URL, for the error when it is missing. */
const URL_VARIABLES: Readonly<Record<WakeUpQueue, string>> = {
  provision: "PROVISION_QUEUE_URL",
  claim: "CLAIM_QUEUE_URL",
  disruption: "DISRUPTION_QUEUE_URL",
  catalog: "CATALOG_QUEUE_URL",
};

const delayMsOf = (wakeUp: WakeUp): number => ("delayMs" in wakeUp && wakeUp.delayMs) || 0;

/**
 * The queue that carries a wake-up. Messages of a FIFO queue have no delay of their own, so a plan for later waits in
 * the lifecycle's queue, and the lifecycle passes it on when it is due.
 */
function queueOf(wakeUp: WakeUp): WakeUpQueue {
  if (wakeUp.kind === "sweep") return "claim";
  return wakeUp.kind === "provision" && waitSecondsOf(wakeUp) > 0 ? "claim" : wakeUp.kind;
}

/** Seconds that the message waits. Rounded up, because a function that is woken too early finds nothing due. */
function waitSecondsOf(wakeUp: WakeUp): number {
  const heldBack = wakeUp.kind === "provision" ? PLAN_HELD_BACK_MS : 0;
  return Math.min(MAX_DELAY_SECONDS, Math.max(0, Math.ceil((delayMsOf(wakeUp) - heldBack) / 1_000)));
}

function subjectOf(wakeUp: WakeUp): string {
  const of = [queueOf(wakeUp), wakeUp.kind, wakeUp.cluster];
  if (wakeUp.kind === "claim") of.push(wakeUp.claim, wakeUp.about ?? "", wakeUp.isPoll ? `poll in ${waitSecondsOf(wakeUp)} s` : "");
  return of.join("/");
}

/**
 * For each cluster and kind, and for each NodeClaim, the soonest wake-up: the function that is woken reads the present
 * state anyway. Polls are kept, one a second.
 */
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
  const entry = { Id: String(id), MessageBody: wakeUpBody(wakeUp) };
  if (queueOf(wakeUp) === "provision") {
    return { ...entry, MessageGroupId: wakeUp.cluster, MessageDeduplicationId: `${wakeUp.cluster}-${windowNumber}` };
  }
  // The group makes a standard queue a fair one: while one cluster's messages keep its readers busy, the messages of
  // others come first.
  return { ...entry, MessageGroupId: wakeUp.cluster, DelaySeconds: waitSecondsOf(wakeUp) };
}

export const sqsClient = (): SQSClient => new SQSClient({ requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000 } });

/**
 * Wake-ups as SQS messages: `provision` to a FIFO queue with one group a cluster, the others to standard queues, which
 * are fair to clusters, with a delay. `queues` must hold the URL of each kind that is sent. `now` (ms) only chooses the
 * second whose wake-ups become one message: those of all processes, because a burst of pods starts many of `notify`,
 * and a message for each would keep the planner from later ones. It relies on clocks that agree, as Lambda's do: a
 * process whose clock is fast would have SQS drop the wake-ups of another in a second to come, until the sweep.
 */
export function sqsWakeUps(options: { readonly queues: QueueUrls; readonly now: () => number; readonly client?: SQSClient }): WakeUps {
  const client = options.client ?? sqsClient();

  async function send(url: string, entries: readonly SendMessageBatchRequestEntry[]): Promise<void> {
    let left = [...entries];
    for (let round = 0; left.length > 0; round++) {
      if (round > 0) {
        await sleep(50 * 2 ** round);
      }
      const { Failed: failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries: left }));
      const hopeless = failed.find(({ SenderFault }) => SenderFault) ?? (round + 1 === MAX_SEND_ROUNDS ? failed[0] : undefined);
      if (hopeless !== undefined) {
        throw new Error(`Queue ${url} refused a wake-up: ${hopeless.Code ?? "no code"} ${hopeless.Message ?? ""}`.trimEnd());
      }
      left = left.filter(({ Id }) => failed.some((failure) => failure.Id === Id));
    }
  }

  /** By cluster, the window whose plan this process has asked for: the queue would drop another message of it. */
  const planned = new Map<string, number>();

  return {
    async wake(wakeUps) {
      const windowNumber = Math.floor(options.now() / PLAN_HELD_BACK_MS);
      const isAsked = (wakeUp: WakeUp): boolean => queueOf(wakeUp) === "provision" && planned.get(wakeUp.cluster) === windowNumber;
      const wanted = folded(wakeUps).filter((wakeUp) => !isAsked(wakeUp));
      const sends: Promise<void>[] = [];
      for (const [kind, ofKind] of Map.groupBy(wanted, queueOf)) {
        const url = options.queues[kind];
        if (url === undefined) {
          throw new Error(`${URL_VARIABLES[kind]}: is missing, so no function can be woken for ${kind}; set it to the queue's URL.`);
        }
        for (let start = 0; start < ofKind.length; start += MAX_MESSAGES_PER_CALL) {
          const batch = ofKind.slice(start, start + MAX_MESSAGES_PER_CALL);
          sends.push(
            send(
              url,
              batch.map((wakeUp, i) => entryOf(wakeUp, i, windowNumber)),
            ),
          );
        }
      }
      await Promise.all(sends);
      for (const wakeUp of wanted) if (queueOf(wakeUp) === "provision") planned.set(wakeUp.cluster, windowNumber);
    },
  };
}

/**
 * The body of a wake-up's message; `parseWakeUp` reads it back. Beside `cause` and `detail` it carries `reason`, their
 * text: a version that does not know the cause, and runs beside this one during an upgrade, logs the text. The delay is
 * left out, because only the queue needs it.
 */
export function wakeUpBody(wakeUp: WakeUp): string {
  const { delayMs: _, ...body } = { delayMs: 0, ...wakeUp };
  return JSON.stringify(wakeUp.kind === "claim" || wakeUp.kind === "sweep" ? body : { ...body, reason: reasonText(wakeUp.kind, wakeUp) });
}

const word = z.string().check(z.minLength(1));
const attempt = z.optional(z.number().check(z.positive()));
const reason = { reason: z.string(), cause: z.optional(z.string()), detail: z.optional(z.string()), attempt };
const message = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("provision"), cluster: word, ...reason }),
  z.object({ kind: z.literal("disruption"), cluster: word, ...reason }),
  z.object({ kind: z.literal("catalog"), cluster: word, ...reason }),
  z.object({
    kind: z.literal("claim"),
    cluster: word,
    claim: word,
    dueAt: z.optional(z.number()),
    about: z.optional(z.string()),
    isPoll: z.optional(z.boolean()),
  }),
  z.object({ kind: z.literal("sweep"), cluster: word, attempt }),
]);

/** The message's cause. One of a later version that this version does not know is Unknown, with its text. */
function reasonOf<K extends CauseKind>(kind: K, { cause, detail, reason }: ReasonFields): WakeUpReason<K> {
  const rows: Readonly<Record<string, { readonly words: (detail: string) => string }>> = WAKE_UP_CAUSES[kind];
  const row = cause !== undefined && Object.hasOwn(rows, cause) ? rows[cause] : undefined;
  const needsDetail = row !== undefined && row.words.length > 0;
  if (row === undefined || (needsDetail && detail === undefined)) return { cause: "Unknown", detail: reason } as WakeUpReason<K>;
  return (needsDetail ? { cause, detail } : { cause }) as WakeUpReason<K>;
}

interface ReasonFields {
  readonly cause?: string | undefined;
  readonly detail?: string | undefined;
  readonly reason: string;
}

/**
 * Reads the body of a message that this or another version of the product wrote; fields that this version does not know
 * are left out. Throws MalformedMessageError with one sentence.
 */
export function parseWakeUp(body: string): WakeUp {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw new MalformedMessageError(`A wake-up must be JSON, not ${excerpt(body)}.`);
  }
  const parsed = message.safeParse(json);
  if (!parsed.success) {
    const field = parsed.error.issues[0]?.path.join(".");
    const wanted = field === "kind" || !field ? '"kind": provision, disruption, catalog, claim or sweep' : `a text in "${field}"`;
    throw new MalformedMessageError(`A wake-up must have ${wanted}; this one is ${excerpt(body)}.`);
  }
  const { data } = parsed;
  // The casts drop `| undefined` from optional keys, which JSON cannot hold, and pair a kind with its own causes.
  if (data.kind === "claim") {
    const { about, ...claim } = data;
    return { ...claim, ...((about === "node" || about === "new-node") && { about }) } as WakeUp;
  }
  if (data.kind === "sweep") return data as WakeUp;
  const { kind, cluster, attempt } = data;
  return { kind, cluster, ...reasonOf(kind, data), ...(attempt !== undefined && { attempt }) } as WakeUp;
}

const excerpt = (body: string): string => JSON.stringify(body.length > 120 ? `${body.slice(0, 120)}…` : body);
