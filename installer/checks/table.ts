// All checks of the installer: what each is called, which commands make it, and who judges.
// In: what a command has observed. Out: a line for each check. No check reads or changes anything.

import * as adoption from "./adoption.ts";
import type { AdoptionFacts } from "./adoption-facts.ts";
import { heldReasons } from "./circuits.ts";
import * as health from "./health.ts";
import * as installation from "./installation.ts";
import * as live from "./live.ts";
import type { State } from "./observe-health.ts";
import type { DoctorFacts } from "./observe-installation.ts";
import { paused } from "./paused.ts";
import * as preFlight from "./pre-flight.ts";
import { servedLine } from "./served-line.ts";
import { stack } from "./stack.ts";
import type { CheckResult, Verdict } from "./verdict.ts";

/** What each command has observed when its checks begin. */
interface Seen {
  readonly install: preFlight.PreFlight;
  readonly upgrade: preFlight.PreFlight;
  readonly status: State;
  readonly doctor: DoctorFacts;
  readonly adopt: AdoptionFacts;
}

/** A verdict; several lines, where a check is about several things; undefined where there is nothing to check. */
type Judged = Verdict | readonly CheckResult[] | undefined;

type Judges = { readonly [Command in keyof Seen]?: (seen: Seen[Command]) => Judged };
type Check = Judges & { readonly name: string };

/** In the order of the lines. A command makes the checks that have a judge for it. */
export const CHECKS: readonly Check[] = [
  { name: "region", install: preFlight.region, upgrade: preFlight.region, doctor: preFlight.region },
  { name: "credentials", install: preFlight.credentials, upgrade: preFlight.credentials, doctor: preFlight.credentials },
  { name: "cluster", install: preFlight.cluster, upgrade: preFlight.cluster, doctor: preFlight.cluster },
  { name: "authentication mode", install: preFlight.authenticationMode, doctor: preFlight.authenticationMode },
  {
    name: "Kubernetes version",
    install: preFlight.kubernetesVersion,
    upgrade: preFlight.kubernetesVersion,
    doctor: preFlight.kubernetesVersion,
  },
  { name: "endpoint", install: preFlight.endpoint },
  { name: "access", install: preFlight.access, upgrade: preFlight.access, doctor: installation.access },
  { name: "Lambda's limit", install: preFlight.lambdaLimit },
  { name: "public URL", install: preFlight.publicUrl, upgrade: preFlight.publicUrl },
  { name: "stack", install: preFlight.wantedStack, status: (seen) => stack(seen), doctor: (seen) => stack(seen), adopt: adoption.stack },
  { name: "its place in the stack", status: servedLine, doctor: servedLine },
  { name: "pause", status: paused, doctor: paused },
  { name: "circuit breaker", status: heldReasons },
  { name: "functions", status: health.functions },
  { name: "dead-letter queues", status: health.deadLetters },
  { name: "sweep", status: health.sweep },
  { name: "prices", status: health.prices },
  { name: "notify", status: health.notifySource },
  { name: "audit", status: health.audit },
  { name: "Karpenter", status: preFlight.runningKarpenter, adopt: adoption.runs },
  { name: "its version", adopt: adoption.version },
  { name: "its cluster", adopt: adoption.itsCluster },
  { name: "its Deployment", adopt: adoption.deployment },
  { name: "CRDs", doctor: installation.definitions, adopt: adoption.definitions },
  { name: "RBAC", doctor: installation.rbac },
  { name: "functions' access", doctor: installation.functionAccess },
  { name: "webhook", doctor: installation.webhook },
  { name: "node role", install: preFlight.nodeRole },
  { name: "node role's access", install: preFlight.nodeRoleAccess },
  { name: "node roles", doctor: installation.nodeRoles, adopt: adoption.nodeRoles },
  { name: "EC2NodeClasses", doctor: installation.nodeClasses },
  { name: "cluster", status: health.objects },
  { name: "settings", adopt: adoption.settings },
  { name: "its queue", adopt: adoption.queue },
  { name: "subnets", install: preFlight.subnets },
  { name: "security groups", install: preFlight.securityGroups },
  { name: "spot", install: preFlight.spot, doctor: preFlight.spot },
  { name: "Karpenter", install: preFlight.runningKarpenter, doctor: preFlight.runningKarpenter },
  { name: "Auto Mode", install: preFlight.autoMode, doctor: preFlight.autoMode },
  { name: "vCPUs", doctor: installation.quotas },
  { name: "queues", doctor: installation.queues },
  { name: "event sources", doctor: live.eventSources },
  { name: "schedules", doctor: live.schedules },
  { name: "rules", doctor: live.rules },
  { name: "RecursiveLoop", doctor: live.recursiveLoops },
  { name: "invocations", doctor: live.runaway },
  { name: "VPC", doctor: live.vpc },
  { name: "kube-scheduler", status: health.scoring, doctor: live.scheduler },
  { name: "audit log", install: preFlight.auditLog, doctor: live.auditLog },
  { name: "reserved concurrency", doctor: live.reserved },
  { name: "Lambda's concurrency", doctor: installation.concurrency },
];

/** Without these nothing else is observed, so the first that fails is the last line. */
const NEEDED = new Set(["region", "credentials", "cluster"]);

/** The lines of all checks of a command. */
export function checkAll<Command extends keyof Seen>(command: Command, seen: Seen[Command]): readonly CheckResult[] {
  const results: CheckResult[] = [];
  for (const check of CHECKS) {
    const { name } = check;
    const judges: Judges = check;
    const judged = judges[command]?.(seen);
    if (judged === undefined) continue;
    results.push(...("level" in judged ? [{ name, ...judged }] : judged));
    if (NEEDED.has(name) && command !== "status" && results.at(-1)?.level === "fault") break;
  }
  return results;
}
