// Whether a stack serves a cluster.
// In: the clusters of the stack, and the small stack of one that was added. Out: one line. No line asks anybody.

import type { ClusterRecord } from "#core/model/cluster-record.ts";
import { addedStackName } from "#infra/role-names.ts";
import { VERSION } from "#settings/version.ts";
import type { InstallationPorts } from "../account/ports.ts";
import { type Serving, servingOf } from "../account/serving.ts";
import type { StackState } from "../account/stack-state.ts";
import type { Observed } from "./facts.ts";
import { observed } from "./observe-account.ts";
import { fault, note, of, ok, type Verdict } from "./verdict.ts";

/** What is known of how a stack serves a cluster. */
export interface ServedFacts {
  readonly serving: Serving;
  /** The small stack of a cluster that was added; undefined where there is none. */
  readonly own: StackState | undefined;
}

export async function servedFacts(
  { cluster, stackName }: { readonly cluster: string; readonly stackName: string },
  stack: Observed<StackState | undefined>,
  ports: Pick<InstallationPorts, "stacks" | "clusterRecords">,
): Promise<Observed<ServedFacts>> {
  if ("error" in stack) return stack;
  return observed(
    servingOf(stackName, stack.value, ports).then(async (serving) => {
      const record = serving.records.find(({ name }) => name === cluster);
      return { serving, own: record && (await ports.stacks.describe(addedStackName(stackName, cluster))) };
    }),
  );
}

/** Nothing of a cluster that the stack's settings name and that has no record. */
export function servedLine({
  cluster,
  stackName,
  served,
}: {
  readonly cluster: string;
  readonly stackName: string;
  readonly served: Observed<ServedFacts>;
}): Verdict | undefined {
  const record = "value" in served ? served.value.serving.records.find(({ name }) => name === cluster) : undefined;
  if ("value" in served && record === undefined) return undefined;
  return of(served, ({ own }) => verdict({ cluster, stackName }, record, own));
}

function verdict(
  { cluster, stackName }: { readonly cluster: string; readonly stackName: string },
  record: ClusterRecord | undefined,
  own: StackState | undefined,
): Verdict {
  const install = `karpenter-serverless install --cluster ${cluster}`;
  const uninstall = `karpenter-serverless uninstall --cluster ${cluster}`;
  switch (record?.state) {
    case undefined:
      return ok("in its settings");
    case "adding":
      return fault(`its installation has begun and not ended; run ${install} again, or ${uninstall}`);
    case "leaving":
      return fault(
        `it is being taken from the stack, and nothing is planned for it; run ${uninstall} again, or ${install}, which serves it again`,
      );
    case "left":
      return fault(`it was taken from the stack; run ${install}, which serves it again, or ${uninstall} again, if that has not ended`);
    case "served": {
      if (record.roles === undefined) return ok("in its settings");
      const name = addedStackName(stackName, cluster);
      if (own === undefined) return fault(`stack ${name}, whose roles the functions need, is not there; run ${install}, which makes it`);
      if (!/^(CREATE|UPDATE|UPDATE_ROLLBACK)_COMPLETE$/.test(own.status))
        return fault(`stack ${name} is ${own.status}; run ${install}, which repairs it`);
      const { Version: version = "unknown", LifecycleRoleArn: lifecycle, CatalogRoleArn: catalog } = own.outputs;
      if (lifecycle !== record.roles.lifecycle || catalog !== record.roles.catalog)
        return fault(`stack ${name} has other roles than the functions know; run ${install}, which passes them on`);
      return version === VERSION
        ? ok(`it was added, by stack ${name} ${version}`)
        : note(`stack ${name} has version ${version}, this program ${VERSION}; run upgrade`);
    }
  }
}
