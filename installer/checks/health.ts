// Whether an installation works.
// In: what was observed of it. Out: one line for each thing that a person looks at first. No line asks anybody.

import type { Readiness, Waiting } from "../account/objects.ts";
import { callsUrl } from "../account/webhook.ts";
import { ago, span } from "./ago.ts";
import { LEAST_ALLOCATED } from "./facts.ts";
import { gathered } from "./gathered.ts";
import type { State } from "./observe-health.ts";
import { type CheckResult, fault, note, of, ok, type Verdict } from "./verdict.ts";

/** An older error is a note and no fault, because sweeps have tried again since. */
const RECENT_ERROR_MS = 10 * 60_000;
/** CloudWatch has the figures of a minute a few minutes later. */
const MAX_SWEEP_AGE_MS = 10 * 60_000;
/** Two runs of the schedule "prices" were missed. */
const MAX_PRICES_AGE_MS = 36 * 60 * 60_000;
/** A pod that a node helps has one by then. */
const MAX_POD_WAIT_MS = 10 * 60_000;
/** A NodeClaim whose node has not registered is given up by then. */
const MAX_CLAIM_WAIT_MS = 15 * 60_000;
/** Names in a line. */
const MAX_NAMES = 5;

export function functions({ parts, errors, now }: State): readonly CheckResult[] {
  if ("error" in parts) return [{ name: "functions", ...note(`not checked: ${parts.error}`) }];
  if (errors.length === 0) return [{ name: "functions", ...fault("the stack has none; deploy it again") }];
  const told = errors.flatMap(({ name, is }): readonly CheckResult[] => {
    if ("error" in is) return [{ name, ...note(`not checked: ${is.error}`) }];
    if (is.value === undefined) return [];
    const said = `${ago(is.value.at, now)}: ${shortened(is.value.message)}`;
    return [{ name, ...(now - is.value.at < RECENT_ERROR_MS ? fault(said) : note(said)) }];
  });
  const quiet = errors.length - told.length;
  return [...(quiet > 0 ? [{ name: "functions", ...ok(`${quiet} without an error in the last hour`) }] : []), ...told];
}

/** The length of a message of a log in a line. */
const MAX_MESSAGE_LENGTH = 300;

const shortened = (message: string): string => {
  const line = message.replaceAll(/\s+/g, " ").trim();
  return line.length > MAX_MESSAGE_LENGTH ? `${line.slice(0, MAX_MESSAGE_LENGTH)}…` : line;
};

export function deadLetters({ parts, deadLetters: all }: State): Verdict {
  return of(parts, () =>
    gathered(all, (known) => {
      const full = known.filter(({ value }) => value > 0);
      return full.length === 0
        ? ok(`${known.length}, all empty`)
        : fault(
            `work was given up: ${full.map(({ name, value }) => `${name} ${value}`).join(", ")}; read a message, fix its cause, then redrive: aws sqs start-message-move-task --source-arn ARN`,
          );
    }),
  );
}

/** Whether the functions have not had the time yet to do what is looked for. */
const isYoung = ({ stack, now }: State): boolean =>
  "value" in stack && now - (stack.value?.createdAt ?? Number.NEGATIVE_INFINITY) < MAX_SWEEP_AGE_MS;

export function sweep(state: State): Verdict {
  const { parts, schedules, sweeps, now } = state;
  return of(parts, () => {
    const off = schedules.filter(({ is }) => "value" in is && !is.value).map(({ name }) => name);
    if (schedules.length === 0) return fault("the stack has no schedule; deploy it again");
    if (off.length > 0) return fault(`${off.join(", ")} is disabled; enable it in EventBridge Scheduler, or deploy the stack again`);
    return gathered(sweeps, (known) => {
      if (isYoung(state) && known.some(({ value }) => value === undefined)) return note("the stack is young, and no sweep is known of yet");
      const late = known.filter(({ value }) => value === undefined || now - value > MAX_SWEEP_AGE_MS).map(({ name }) => name);
      return late.length > 0
        ? fault(
            `no sweep of ${late.join(", ")} was started for 10 minutes; look at its schedules in EventBridge Scheduler, and at its throttles`,
          )
        : ok(known.map(({ name, value = now }) => `${name} ${ago(value, now)}`).join(", "));
    });
  });
}

export function prices(state: State): Verdict {
  const { prices: known, now } = state;
  return of(known, (asOf) => {
    if (asOf === undefined && isYoung(state)) return note("the stack is young, and the catalog function has written none yet");
    if (asOf === undefined) return fault("the catalog function has written no instance types and prices yet; look at its log");
    const age = now - Date.parse(asOf);
    return age > MAX_PRICES_AGE_MS
      ? fault(`instance types and prices are ${span(age)} old, twelve hours are usual; look at the log of the catalog function`)
      : ok(`as of ${asOf}`);
  });
}

export function notifySource({ stack, webhook, cluster }: State): Verdict {
  const url = "value" in stack ? stack.value?.outputs["NotifyUrl"] : undefined;
  return of(webhook, (urls) => {
    const mend = `apply the manifests: karpenter-serverless install --cluster ${cluster}`;
    if (urls === undefined)
      return url === undefined
        ? ok("not in use: pods are found by other sources")
        : fault(`no webhook is registered in the cluster; ${mend}`);
    if (url === undefined) return note("a webhook is registered, and the stack names no URL of its own for it");
    return urls.length > 0 && urls.every((one) => callsUrl(one, url, cluster))
      ? ok("the webhook calls the stack's URL")
      : fault(`the webhook calls another URL than the stack's; ${mend}`);
  });
}

/** Nothing where kube-scheduler spreads pods, or where EKS does not say. */
export const scoring = ({ scoring: found }: State): Verdict | undefined =>
  "value" in found && found.value !== LEAST_ALLOCATED ? note(`scores nodes by ${found.value}; doctor says what follows`) : undefined;

/** Nothing where no cluster's audit log is subscribed to. */
export const audit = ({ parts }: State): Verdict | undefined =>
  "value" in parts && parts.value.hasAuditFilter ? ok("the stack is subscribed to audit logs") : undefined;

export function objects({ objects: found, now }: State): readonly CheckResult[] {
  if ("error" in found) return [{ name: "cluster", ...fault(`the API server does not answer (${found.error})`) }];
  const { pools, classes, pods, claims, nodes } = found.value;
  // Pods that wait for the morning are no fault.
  const podWaitMs = pools.some(({ asleep }) => asleep !== undefined) ? Number.POSITIVE_INFINITY : MAX_POD_WAIT_MS;
  return [
    ...readinessLines("NodePool", "NodePools", pools),
    ...readinessLines("EC2NodeClass", "EC2NodeClasses", classes),
    {
      name: "NodeClaims",
      ...waitingLine(claims, now, MAX_CLAIM_WAIT_MS, `${nodes} with a node`, "on their way", "kubectl describe nodeclaim says why"),
    },
    {
      name: "pods",
      ...waitingLine(pods, now, podWaitMs, "none waits for a node", "wait for a node", "kubectl describe pod says why"),
    },
  ];
}

function readinessLines(kind: string, kinds: string, objects: readonly Readiness[]): readonly CheckResult[] {
  if (objects.length === 0)
    return [{ name: kinds, ...fault("there is none, so no node is launched; apply one, or run install --with-default-pool") }];
  const ready = objects.filter(({ isReady }) => isReady).map(({ name }) => name);
  return [
    ...(ready.length > 0 ? [{ name: kinds, ...ok(`${ready.length} Ready (${listed(ready)})`) }] : []),
    ...objects.flatMap(({ name, asleep }) => (asleep === undefined ? [] : [{ name: `${kind} ${name}`, ...note(asleep) }])),
    ...objects.flatMap(({ name, isReady, why }) => (isReady ? [] : [{ name: `${kind} ${name}`, ...fault(`not Ready: ${why}`) }])),
  ];
}

const listed = (names: readonly string[]): string => [...names.slice(0, MAX_NAMES), ...(names.length > MAX_NAMES ? ["…"] : [])].join(", ");

function waitingLine(all: readonly Waiting[], now: number, limitMs: number, none: string, doing: string, mend: string): Verdict {
  if (all.length === 0) return ok(none);
  const said = listed(
    all.map(({ name, since, state }) => `${name} ${span(now - since)}${state.includes(" ") || !state ? "" : ` ${state}`}`),
  );
  const isLate = all.some(({ since }) => now - since > limitMs);
  const text = `${all.length} ${doing}: ${said}`;
  return isLate ? fault(`${text}; ${mend}`) : note(text);
}
