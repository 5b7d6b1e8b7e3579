import { type RenderedLaunch, renderLaunch } from "#core/launch/fleet-request.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import { NotFoundError, RefusedError } from "#core/ports/errors.ts";
import type { LifecycleDeps } from "../../shared/cluster-deps.ts";
import { reportUserDataSize } from "./metrics.ts";
import { readLaunchView } from "./view.ts";

/** Reads what a launch depends on, and renders its request: for one NodeClaim, or for the `group` that it is in. */
export async function renderFor(
  record: NodeClaimRecord,
  claim: NodeClaim,
  deps: LifecycleDeps,
  group?: Parameters<typeof renderLaunch>[0]["group"],
): Promise<{ readonly rendered: RenderedLaunch; readonly nodeClass: EC2NodeClass | undefined }> {
  const { nodeClass, instanceTypes, unavailable, freeIps } = await readLaunchView(claim, deps, { toBuy: record });
  const rendered = renderLaunch({
    ...{ claim, record: { uid: claim.metadata.uid ?? "" }, nodeClass, instanceTypes, unavailable },
    cluster: deps.cluster,
    attempt: record.launchAttempts,
    reservedCapacity: deps.settings.reservedCapacity,
    ...(group && { group }),
    ...(freeIps && { freeIps }),
  });
  return { rendered, nodeClass };
}

/**
 * Creates the launch templates of a request. Returns why it may not: not allowed, or no such instance profile; other
 * errors are thrown.
 */
export async function ensureTemplates(
  { templates }: Extract<RenderedLaunch, { readonly ok: unknown }>["ok"],
  claim: NodeClaim,
  deps: LifecycleDeps,
): Promise<RefusedError | NotFoundError | undefined> {
  reportUserDataSize(claim.spec.nodeClassRef.name, templates, deps);
  try {
    for (const template of templates) await deps.fleet.ensureLaunchTemplate(template);
    return undefined;
  } catch (error) {
    if (error instanceof RefusedError || error instanceof NotFoundError) return error;
    throw error;
  }
}
