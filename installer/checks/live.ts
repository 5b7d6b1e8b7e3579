// Checks of what a person may have changed of a stack by hand, and of the network that its functions are in.
// In: what is set in AWS now. Out: for each check a verdict, with the command that fixes it. No check reads anything.

import { runawayBound } from "#infra/runaway.ts";
import { servicesInVpc } from "#infra/vpc-services.ts";
import { LEAST_ALLOCATED } from "./facts.ts";
import { gathered } from "./gathered.ts";
import type { DoctorFacts } from "./observe-installation.ts";
import { listenedTo } from "./pre-flight.ts";
import { fault, note, of, ok, type Verdict } from "./verdict.ts";

/** Nothing where the stack has no functions that can be asked about; the line of the stack says why. */
export function recursiveLoops({ live: { recursiveLoops: all } }: DoctorFacts): Verdict | undefined {
  if (all.length === 0) return undefined;
  return gathered(all, (known) => {
    const [first, ...others] = known.filter(({ value }) => value !== "Allow");
    if (first === undefined) return ok(`Allow, of ${known.map(({ name }) => name).join(", ")}`);
    const names = [first, ...others].map(({ name }) => name).join(", ");
    return fault(
      `Terminate, of ${names}, so Lambda ends their wake-ups after about 16 and leaves dead letters; allow it, of each: aws lambda put-function-recursion-config --recursive-loop Allow --function-name ${first.functionName}`,
    );
  });
}

export function runaway({ live: { invocations, settings } }: DoctorFacts): Verdict | undefined {
  if (invocations.length === 0) return undefined;
  const clusters = "value" in settings ? (settings.value?.clusters.length ?? 1) : 1;
  return gathered(invocations, (known) => {
    const many = known.filter(({ name, value }) => value >= runawayBound(name, clusters));
    return many.length === 0
      ? ok(`in the last hour ${known.map(({ name, value }) => `${name} ${value}`).join(", ")}`)
      : fault(
          `in the last hour ${many.map(({ name, value }) => `${name} ${value} of at most ${runawayBound(name, clusters)}`).join(", ")}; wake-ups may follow each other without end: docs/operate.md, Runaway`,
        );
  });
}

export function eventSources({ live: { sources } }: DoctorFacts): Verdict | undefined {
  if (sources.length === 0) return undefined;
  return gathered(sources, (known) => {
    const off = known.filter(({ value }) => !value);
    const [first] = off;
    return first === undefined
      ? ok(`${known.length}, enabled`)
      : fault(
          `the queue of ${off.map(({ name }) => name).join(", ")} starts nothing; enable it: aws lambda update-event-source-mapping --enabled --uuid ${first.id}`,
        );
  });
}

export function schedules({ live: { schedules: all } }: DoctorFacts): Verdict | undefined {
  if (all.length === 0) return undefined;
  return gathered(all, (known) => {
    const off = known.filter(({ value }) => !value).map(({ name }) => name);
    return off.length === 0
      ? ok(`${known.length}, enabled`)
      : fault(`${off.join(", ")} is disabled, so lost events are not made up for; enable it in EventBridge Scheduler`);
  });
}

export function rules({ live: { rules: all } }: DoctorFacts): Verdict | undefined {
  if (all.length === 0) return undefined;
  return gathered(all, (known) => {
    const off = known.filter(({ value }) => !value).map(({ name }) => name);
    return off.length === 0
      ? ok(`${known.length}, enabled`)
      : fault(`notices of EC2 do not arrive, because a rule is disabled; enable it: aws events enable-rule --name ${off.join(" and ")}`);
  });
}

/** A reservation of 0 is Lambda's way to stop a function. */
export function reserved({ live: { reserved: all } }: DoctorFacts): Verdict | undefined {
  if (all.length === 0) return undefined;
  return gathered(all, (known) => {
    const [first, ...others] = known.filter(({ value }) => value === 0);
    if (first !== undefined)
      return fault(
        `0, which stops ${[first, ...others].map(({ name }) => name).join(", ")}; take it away: aws lambda delete-function-concurrency --function-name ${first.functionName}`,
      );
    const some = known.flatMap(({ name, value }) => (value === undefined ? [] : [`${name} ${value}`]));
    return ok(some.length === 0 ? "none" : some.join(", "));
  });
}

export function vpc({ served, live: { network, settings } }: DoctorFacts): Verdict | undefined {
  const known = "value" in settings ? settings.value : undefined;
  if (known?.vpc === undefined) return undefined;
  return of(network, (found) => {
    const { withoutWayOut: closed = [], endpoints = [] } = found ?? {};
    if (closed.length === 0) return ok("each subnet of the functions has a way out");
    const isThere = (service: string): boolean => endpoints.some((name) => name.endsWith(`.${service}`));
    const hasAdded = "value" in served && served.value.serving.records.some(({ roles }) => roles !== undefined);
    const needed = [...servicesInVpc(known, hasAdded)];
    const missing = needed.filter(([service]) => !isThere(service));
    const [first] = missing;
    if (first === undefined) return ok(`no way out of ${closed.join(", ")}; the VPC has the ${needed.length} endpoints that it needs`);
    return fault(
      `no way out of ${closed.join(", ")}, and the VPC has no endpoint of ${missing.map(([service, names]) => `${service} (for ${names.join(", ")})`).join(", ")}; make each (dynamodb as a gateway, the others as interfaces), or route 0.0.0.0/0 over NAT: docs/deploy.md, "Private API servers"`,
    );
  });
}

/** EKS can have kube-scheduler fill nodes. */
export function scheduler({ eks }: Pick<DoctorFacts, "eks">): Verdict {
  return of(eks, ({ scoring = LEAST_ALLOCATED }) =>
    scoring === LEAST_ALLOCATED
      ? ok("LeastAllocated: pods spread over nodes with room")
      : note(
          `${scoring}: pods go to the fullest node that has room, so fewer nodes become empty by chance and more by use; plans ask for the same nodes, and consolidation finds less to do`,
        ),
  );
}

/** Nothing where the audit log is not listened to. */
export function auditLog({ live: { auditLog: log } }: DoctorFacts): Verdict | undefined {
  if ("error" in log) return of(log, listenedTo);
  return log.value && listenedTo(log.value);
}
