// `cli pause` and `cli resume`: hold the autoscaler of a cluster, and let it continue.
// In: a cluster or all of a stack. Out: one item of the stack's table for each, which the functions read before they
// act; a line for each cluster. They write nothing in a cluster (docs/pause.md).

import { parseDuration } from "#core/lib/duration.ts";
import { PAUSE_SCOPES } from "#core/pause/pause.ts";
import { DEFAULT_STACK } from "#terminal/arguments.ts";
import { defineCommand } from "#terminal/command.ts";
import { flag, text } from "#terminal/command-line.ts";
import { InputError } from "#terminal/input-error.ts";
import type { Clusters } from "./pause.ts";

const WHICH = {
  cluster: text("NAME", "name of the EKS cluster"),
  all: flag("all clusters of the stack"),
  region: text("REGION", "AWS region of the cluster; AWS_REGION when absent"),
  stack: text("NAME", `CloudFormation stack (${DEFAULT_STACK})`),
} as const;

export const pauseCommand = defineCommand({
  name: "pause",
  summary: "Holds voluntary disruption, launches or both in a cluster; notices of EC2 and deletions by people are acted upon",
  options: {
    ...WHICH,
    only: text("SCOPE", `${PAUSE_SCOPES.join(" or ")}; both when absent`),
    for: text("TIME", "ends by itself after this time, as in 30m, 2h or 3d; without it, resume ends it"),
    reason: { type: "text", value: "TEXT", description: "why: shown wherever the pause is", isRequired: true },
  },
  run: async ({ values }) => {
    const [{ pause }, { awsPorts }] = await Promise.all([import("./pause.ts"), import("../account/aws-ports.ts")]);
    const { only, for: time, reason } = values;
    const scope = PAUSE_SCOPES.find((one) => one === only);
    if (only !== undefined && scope === undefined)
      throw new InputError(`--only ${only}: there is ${PAUSE_SCOPES.join(" and ")}; leave --only out for both`);
    const forMs = time === undefined ? undefined : timeOf(time);
    return await pause({ ...clustersOf(values), only: scope, forMs, reason }, awsPorts(regionOf(values)));
  },
});

export const resumeCommand = defineCommand({
  name: "resume",
  summary: "Ends what pause holds in a cluster, and says what still holds and what is done first",
  options: WHICH,
  run: async ({ values }) => {
    const [{ resume }, { awsPorts }] = await Promise.all([import("./pause.ts"), import("../account/aws-ports.ts")]);
    return await resume(clustersOf(values), awsPorts(regionOf(values)));
  },
});

interface Given {
  readonly cluster?: string | undefined;
  readonly all: boolean;
  readonly region?: string | undefined;
  readonly stack?: string | undefined;
}

function clustersOf({ cluster, all, stack = DEFAULT_STACK }: Given): Clusters {
  if ((cluster !== undefined) === all) throw new InputError("name one cluster with --cluster NAME, or all of the stack with --all");
  return { cluster, stackName: stack };
}

function regionOf({ region = process.env["AWS_REGION"] ?? process.env["AWS_DEFAULT_REGION"] ?? "" }: Given): string {
  if (region === "") throw new InputError("say in which region the cluster is: --region us-west-2, or set AWS_REGION");
  return region;
}

const DAY_MS = 86_400_000;

/** Throws InputError. */
export function timeOf(given: string): number {
  const days = /^(\d+(?:\.\d+)?)d$/.exec(given);
  const ms = days ? Number(days[1]) * DAY_MS : parseDuration(given);
  if (ms === undefined || ms <= 0) throw new InputError(`--for ${given}: is no time; write 30m, 2h or 3d`);
  return ms;
}
