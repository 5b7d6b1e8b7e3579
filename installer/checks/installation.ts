// Checks of an installation that is there.
// In: what was found in an account and a cluster. Out: for each check a verdict, one sentence that says what is wrong,
// where, and how to fix it. Checks that an installation begins with are those of install. No check reads anything.

import { isDeepStrictEqual } from "node:util";
import { VERSION_ANNOTATION } from "#infra/manifests.ts";
import { VERSION } from "#settings/version.ts";
import type { KubeObject } from "../account/ports.ts";
import { callsUrl } from "../account/webhook.ts";
import { span } from "./ago.ts";
import type { Applied, DoctorFacts, VcpuQuota } from "./observe-installation.ts";
import { nodeRoleAccess, access as readAccess } from "./pre-flight.ts";
import { type CheckResult, fault, note, of, ok, type Verdict } from "./verdict.ts";

/** Below this part of a quota or a limit being left, a check is a note. */
const MIN_LEFT = 0.1;
/** A message that waits longer is not worked on: functions take messages within seconds. */
const MAX_QUEUE_AGE_S = 300;

const apply = (cluster: string): string => `apply the manifests again: karpenter-serverless install --cluster ${cluster}`;

/** Who asks need not be able to install; an API server that does not answer hides the rest. */
export function access(seen: DoctorFacts): Verdict {
  return "error" in seen.inCluster ? readAccess(seen) : ok("the API server answers you");
}

const isDefinition = ({ wanted }: Applied): boolean => wanted.kind === "CustomResourceDefinition";

export function definitions({ applied, cluster }: DoctorFacts): Verdict {
  const all = applied.filter(isDefinition);
  return (
    unread(all) ??
    problems(all, cluster, "of this version", ({ metadata }) => {
      const version = metadata.annotations?.[VERSION_ANNOTATION];
      // Without our annotation another product has installed it, whose definition may serve more.
      return version === undefined || version === VERSION ? undefined : `is of version ${version}`;
    })
  );
}

export function rbac({ applied, cluster }: DoctorFacts): Verdict {
  const all = applied.filter((one) => !isDefinition(one));
  return (
    unread(all) ??
    problems(all, cluster, "of this version", (found, wanted) => {
      const [has, wants] = [found, wanted].map((object) => (object as { readonly rules?: unknown }).rules);
      return wants === undefined || isDeepStrictEqual(has, wants) ? undefined : "has other rules than this version";
    })
  );
}

function unread(all: readonly Applied[]): Verdict | undefined {
  const missing = all.find(({ found }) => "error" in found)?.found;
  return missing !== undefined && "error" in missing ? note(`not checked: ${missing.error}`) : undefined;
}

/** What is missing or differs; `differs` says how. */
function problems(
  all: readonly Applied[],
  cluster: string,
  good: string,
  differs: (found: KubeObject, wanted: KubeObject) => string | undefined,
): Verdict {
  const wrong = all.flatMap(({ wanted, found }) => {
    const object = "value" in found ? found.value : undefined;
    const how = object === undefined ? "is missing" : differs(object, wanted);
    return how === undefined ? [] : [`${wanted.kind} ${wanted.metadata.name} ${how}`];
  });
  const [first, second, third] = wrong;
  if (first === undefined) return ok(`${all.length}, ${good}`);
  const rest = wrong.length > 3 ? ` (and ${wrong.length - 3} more)` : "";
  return fault(`${[first, second, third].filter((one) => one !== undefined).join(", ")}${rest}; ${apply(cluster)}`);
}

export function functionAccess({ functionEntries, cluster }: DoctorFacts): Verdict {
  if (functionEntries.length === 0) return note("not checked: the stack does not name the roles of its functions");
  const unknown = functionEntries.find(({ type }) => "error" in type)?.type;
  if (unknown !== undefined && "error" in unknown) return note(`not checked: ${unknown.error}`);
  const without = functionEntries.filter(({ type }) => "value" in type && type.value === undefined);
  return without.length === 0
    ? ok(`${functionEntries.length} access entries`)
    : fault(
        `the API server does not know ${without.map(({ name }) => name).join(", ")}, because their roles have no access entry of cluster ${cluster}; run karpenter-serverless install --cluster ${cluster}, which makes them`,
      );
}

export function webhook({ webhook: registered, stack, cluster }: DoctorFacts): Verdict {
  const url = "value" in stack ? stack.value?.outputs["NotifyUrl"] : undefined;
  return of(registered, (found) => {
    if (found === undefined)
      return url === undefined
        ? ok("not in use")
        : fault(`ValidatingWebhookConfiguration karpenter-serverless-notify is missing; ${apply(cluster)}`);
    const { urls, hasToken, status } = found;
    if (url !== undefined && !urls.every((one) => callsUrl(one, url, cluster)))
      return fault(`it calls another URL than the stack's; ${apply(cluster)}`);
    if ("error" in status)
      return url === undefined
        ? note(`not checked: ${status.error}`)
        : fault(`its URL does not answer (${status.error}); look at the function notify and its URL`);
    if (status.value !== 403)
      return fault(
        `its URL answers ${status.value} where the function notify answers 403; look at the function's log and at the permissions of its URL`,
      );
    if ("error" in hasToken) return note(`its URL answers; its secret was not checked: ${hasToken.error}`);
    return hasToken.value ? ok("registered, and its URL answers") : fault(`its URL has another secret than the stack; ${apply(cluster)}`);
  });
}

export function nodeRoles({ nodeRoles: all }: DoctorFacts): readonly CheckResult[] {
  return all.map(({ role, facts: own }) => {
    const name = `node role ${role}`;
    const { nodeRole } = own;
    if ("value" in nodeRole && nodeRole.value === undefined)
      return { name, ...fault("an EC2NodeClass names it, and IAM has no such role; make it, or correct spec.role of the EC2NodeClass") };
    return { name, ...nodeRoleAccess({ ...own, wanted: { createNodeRoles: false } }) };
  });
}

/** The catalog function has looked for subnets, security groups, images and the instance profile. */
export function nodeClasses({ objects }: DoctorFacts): readonly CheckResult[] {
  if ("error" in objects) return [{ name: "EC2NodeClasses", ...note(`not checked: ${objects.error}`) }];
  const { classes } = objects.value;
  if (classes.length === 0) return [{ name: "EC2NodeClasses", ...fault("there is none; apply one, or run install --with-default-pool") }];
  return classes.map(({ name, isReady, why }) => ({
    name: `EC2NodeClass ${name}`,
    ...(isReady ? ok("finds subnets, security groups and images") : fault(`${why}; correct its selectors, or the tags they select by`)),
  }));
}

/** A line for each quota. */
export const quotas = ({ quotas: all }: DoctorFacts): readonly CheckResult[] =>
  all.map((quota) => ({ name: `vCPUs of ${quota.name}`, ...vcpus(quota) }));

function vcpus({ code, limit, used }: VcpuQuota): Verdict {
  return of(limit, (most) =>
    of(used, (now) => {
      if (now === undefined) return ok(`${most}`);
      const text = `${now} of ${most} are used`;
      if (most - now >= most * MIN_LEFT) return ok(text);
      return note(
        `${text}, so launches may soon be refused; ask for more: aws service-quotas request-service-quota-increase --service-code ec2 --quota-code ${code} --desired-value N`,
      );
    }),
  );
}

export function queues({ queueAges }: DoctorFacts): Verdict {
  const unknown = queueAges.find(({ age }) => "error" in age)?.age;
  if (unknown !== undefined && "error" in unknown) return note(`not checked: ${unknown.error}`);
  const late = queueAges.flatMap(({ name, age }) =>
    "value" in age && (age.value ?? 0) > MAX_QUEUE_AGE_S ? [`${name} ${span((age.value ?? 0) * 1_000)}`] : [],
  );
  return late.length === 0
    ? ok(`${queueAges.length}, no message waits`)
    : fault(`messages wait: ${late.join(", ")}; look at the log and the throttles of the function of that name`);
}

/** What AWS gives an account without asking once it is in use; a new one has 10. */
const USUAL_CONCURRENCY = 1_000;

const raise = (limit: number): string =>
  `raise this quota before those of EC2: aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value ${Math.max(USUAL_CONCURRENCY, 2 * limit)}`;

export function concurrency({ lambda, concurrency: peakOf }: DoctorFacts): Verdict {
  return of(lambda, ({ limit }) =>
    of(peakOf, (peak) => {
      if (limit < USUAL_CONCURRENCY) return note(`the account runs ${limit} functions at once; ${raise(limit)}`);
      if (peak === undefined) return ok(`${limit} at once`);
      const text = `at most ${peak} of ${limit} at once in the last hour`;
      return limit - peak >= limit * MIN_LEFT ? ok(text) : note(`${text}, so functions may be throttled; ${raise(limit)}`);
    }),
  );
}
