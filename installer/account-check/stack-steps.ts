// Steps about CloudFormation, SQS and Lambda.

import { loopStack, rollbackStack, tableName, tagsOf } from "./names.ts";
import type { Message } from "./ports.ts";
import { type Finding, type Scene, type Step, waitFor } from "./step.ts";
import { loopTemplate, MAX_HOPS, rollbackTemplate } from "./templates.ts";

const POLL_MS = 5_000;

/** The status of a stack once nothing changes any more; "gone" when there is none. */
async function settled(name: string, scene: Scene) {
  return waitFor(
    async () => {
      const stack = await scene.cloud.stack(name);
      if (stack === undefined) return { status: "gone", outputs: {} };
      return stack.status.endsWith("_IN_PROGRESS") ? undefined : stack;
    },
    scene,
    { everyMs: POLL_MS },
  );
}

const passRole: Step = {
  name: "pass-role",
  question: "Does a check of iam:PassRole carry aws:CalledVia when CloudFormation makes a function?",
  expected: "A person who may pass roles only through CloudFormation can create the stack.",
  place: { file: "docs/examples/installer-policy.json", text: "aws:CalledVia" },
  calls: [
    ...["cloudformation:CreateStack", "cloudformation:DescribeStackEvents", "cloudformation:DescribeStacks"],
    ...["iam:PassRole", "iam:SimulatePrincipalPolicy"],
  ],
  makes: ["a stack with a role, 3 functions and 5 queues"],
  minutes: 3,
  run: async (scene) => {
    const { cloud, runId, callerArn, made } = scene;
    const name = loopStack(runId);
    await cloud.createStack({ name, template: loopTemplate(), tags: tagsOf(runId) });
    const ended = await settled(name, scene);
    const status = ended?.value.status ?? "still in progress";
    if (status !== "CREATE_COMPLETE") return { isExpected: false, seen: `The stack is ${status}: ${await cloud.failure(name)}` };
    made.loopStack = ended?.value.outputs ?? {};
    const may = await cloud.maySimplyPass(callerArn, made.loopStack["RoleArn"] ?? "").catch(() => undefined);
    const figures = { createMs: ended?.ms ?? 0 };
    if (may === false) return { isExpected: true, seen: "The stack was created by a caller who may not pass its role otherwise.", figures };
    const why = may === undefined ? "it is not known whether you may pass its role otherwise" : "you may pass its role otherwise, too";
    return { isExpected: undefined, seen: `The stack was created, but ${why}; use the rights that --policy prints.`, figures };
  },
};

const messageGroups: Step = {
  name: "message-groups",
  question: "Do standard queues take a MessageGroupId (fair queues)?",
  expected: "SQS takes the message and returns its group.",
  place: { file: "adapters/aws/wake-up-queue.ts", text: "MessageGroupId" },
  calls: ["sqs:SendMessage", "sqs:ReceiveMessage", "sqs:DeleteMessage"],
  makes: [],
  minutes: 1,
  needs: "loopStack",
  run: async (scene) => {
    const { cloud, made } = scene;
    const queue = made.loopStack?.["Groups"] ?? "";
    await cloud.send(queue, { body: "{}", group: "cluster-1" });
    const taken = await waitFor(async () => (await cloud.take(queue))[0], scene, { everyMs: 1_000, limitMs: 60_000 });
    const group = taken?.value.group;
    return {
      isExpected: group === "cluster-1",
      seen: group === undefined ? "The message has no group." : `The message has the group ${group}.`,
    };
  },
};

/** Chain B begins when chain A has made so many hops. */
const HEAD_START = 8;
/** Within so many hops a chain counts as stopped at the same place as another. */
const TOLERANCE = 2;

interface ChainEnd {
  readonly hop: number;
  readonly together: number;
}

/** What of the chains has arrived at the end of a loop. */
function endsOf(messages: readonly Message[]): Readonly<Record<string, ChainEnd>> {
  return Object.fromEntries(
    messages.map(({ body }) => {
      const { chain, hop, together } = JSON.parse(body) as ChainEnd & { readonly chain: string };
      return [chain, { hop, together }];
    }),
  );
}

/** What the ends of chains A and B say of whose count a batch has. */
function judgeChains(allowed: ChainEnd | undefined, a: ChainEnd | undefined, b: ChainEnd | undefined): Finding {
  if (allowed?.hop !== MAX_HOPS)
    return { isExpected: false, seen: `With RecursiveLoop Allow the chain ended after ${allowed?.hop ?? "an unknown number of"} hops.` };
  if (a === undefined) return { isExpected: undefined, seen: "With RecursiveLoop Terminate no chain ended in the time that was waited." };
  const figures = {
    stoppedAt: a.hop,
    ...(b !== undefined && { laterChainStoppedAt: b.hop }),
    largestBatch: Math.max(a.together, b?.together ?? 0),
  };
  const isExpected = a.hop >= 14 && a.hop <= 18;
  const stopped = `With Allow a chain is not stopped; with Terminate it is stopped after ${a.hop} hops`;
  if (b === undefined || Math.max(a.together, b.together) < 2)
    return { isExpected, seen: `${stopped}; no batch had messages of two chains.`, figures };
  const isShared = Math.abs(b.hop - (a.hop - HEAD_START)) <= TOLERANCE;
  const whose = isShared ? "the longest chain of a batch counts for all its messages" : "each message has the count of its own chain";
  return { isExpected, seen: `${stopped}; ${whose} (a chain that began ${HEAD_START} hops later ended after ${b.hop}).`, figures };
}

const recursion: Step = {
  name: "recursion",
  question: "After how many hops does Lambda stop a chain of wake-ups, and whose count does a batch of messages have?",
  expected: "With RecursiveLoop Allow it stops none; with Terminate after about 16.",
  place: { file: "infra/functions.ts", text: "after about 16 invocations" },
  calls: ["sqs:SendMessage", "sqs:ReceiveMessage", "sqs:DeleteMessage"],
  makes: [],
  minutes: 6,
  needs: "loopStack",
  run: async (scene) => {
    const { cloud, made, sleep } = scene;
    const { AllowQueue = "", AllowDead = "", TerminateQueue = "", TerminateDead = "" } = made.loopStack ?? {};
    const begin = (queue: string, chain: string) => cloud.send(queue, { body: JSON.stringify({ chain, hop: 0, together: 1 }) });
    await begin(AllowQueue, "allowed");
    await begin(TerminateQueue, "a");
    // A hop takes a little longer than the window of a batch.
    await sleep(HEAD_START * 2_500);
    await begin(TerminateQueue, "b");
    const found: { allowed?: ChainEnd; a?: ChainEnd; b?: ChainEnd } = {};
    await waitFor(
      async () => {
        Object.assign(found, endsOf(await cloud.take(AllowDead)), endsOf(await cloud.take(TerminateDead)));
        return found.allowed !== undefined && found.a !== undefined && found.b !== undefined ? true : undefined;
      },
      scene,
      { everyMs: POLL_MS },
    );
    return judgeChains(found.allowed, found.a, found.b);
  },
};

const COLD_STARTS = 5;
/** The timeoutSeconds of the webhooks. */
const WEBHOOK_MS = 1_000;
/** A call of notify's URL with a wrong path, which is answered with 403. */
const WRONG_PATH = { version: "2.0", rawPath: "/v1/check/wrong", requestContext: { http: { method: "POST" } }, body: "{}" };

const coldStart: Step = {
  name: "cold-start",
  question: "Does the function notify answer within the webhook's second when it starts cold?",
  expected: "Init and invocation together take less than 1 s, in each of five starts.",
  place: { file: "infra/webhook/notify.yaml", text: "timeoutSeconds: 1" },
  calls: ["lambda:UpdateFunctionCode", "lambda:GetFunctionConfiguration", "lambda:UpdateFunctionConfiguration", "lambda:InvokeFunction"],
  makes: [],
  minutes: 3,
  needs: "loopStack",
  run: async ({ cloud, made, notifyCode, sleep }) => {
    const name = made.loopStack?.["Cold"] ?? "";
    await cloud.replaceCode(name, await notifyCode());
    const times: number[] = [];
    for (let i = 0; i < COLD_STARTS; i++) {
      await sleep(POLL_MS);
      await cloud.renew(name, String(i));
      await sleep(POLL_MS);
      const { initMs, durationMs } = await cloud.invoke(name, WRONG_PATH);
      if (initMs !== undefined) times.push(Math.round(initMs + durationMs));
    }
    if (times.length === 0) return { isExpected: undefined, seen: "Lambda reported no cold start." };
    const longest = Math.max(...times);
    const figures = { longestMs: longest, shortestMs: Math.min(...times), starts: times.length };
    return { isExpected: longest < WEBHOOK_MS, seen: `The longest of ${times.length} cold starts took ${longest} ms.`, figures };
  },
};

const rollback: Step = {
  name: "rollback",
  question: "Does a creation that is rolled back remove a table with DeletionPolicy RetainExceptOnCreate?",
  expected: "The stack ends in ROLLBACK_COMPLETE and the table is gone, so the next attempt finds nothing in its way.",
  place: { file: "infra/stack.ts", text: "RETAIN_ON_UPDATE_OR_DELETE" },
  calls: ["cloudformation:CreateStack", "cloudformation:DescribeStacks", "dynamodb:ListTables"],
  makes: ["a stack with a table, which is rolled back"],
  minutes: 2,
  run: async (scene) => {
    const { cloud, runId } = scene;
    const name = rollbackStack(runId);
    await cloud.createStack({ name, template: rollbackTemplate(runId), tags: tagsOf(runId) });
    const ended = await settled(name, scene);
    const status = ended?.value.status ?? "still in progress";
    const isThere = (await cloud.tables(tableName(runId))).length > 0;
    const seen = `The stack is ${status}, and the table is ${isThere ? "still there" : "gone"}.`;
    return { isExpected: status === "ROLLBACK_COMPLETE" && !isThere, seen, figures: { rollbackMs: ended?.ms ?? 0 } };
  },
};

export const STACK_STEPS: readonly Step[] = [passRole, messageGroups, recursion, coldStart, rollback];
