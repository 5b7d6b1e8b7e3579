// The clusters of a stack during its upgrade.
// In: the API servers of the clusters in the stack's account. Out: what an upgrade would lose in one, and its manifests
// applied. Clusters of other accounts are not reached by the credentials here; a line says so.

import { isDeepStrictEqual } from "node:util";
import { manifests } from "#infra/manifests.ts";
import type { Print } from "#terminal/command.ts";
import type { ClusterApi, KubeObject, UpgradePorts } from "../account/ports.ts";
import type { StackState } from "../account/stack-state.ts";
import { type CheckResult, fault, note, ok, type Verdict } from "../checks/verdict.ts";
import { applyObjects, objectsOf, removeOutdated, staysOthers } from "../install/apply-manifests.ts";
import { webhooks } from "../install/install.ts";
import { type FieldPath, lostFields, lostVersions, pathText, says } from "./definitions.ts";

type Outputs = StackState["outputs"];

/** All objects of a cluster, with the webhooks of the stack as it is deployed. */
async function objectsFor(cluster: string, outputs: Outputs, ports: UpgradePorts): Promise<readonly KubeObject[]> {
  return objectsOf(manifests({ cluster, ...(await webhooks(outputs, ports)) }));
}

const isDefinition = ({ kind }: KubeObject): boolean => kind === "CustomResourceDefinition";

/** Whether the definitions of this release hold all that the cluster has stored. */
export async function checkDefinitions(cluster: string, outputs: Outputs, ports: UpgradePorts): Promise<CheckResult> {
  const name = `CRDs of ${cluster}`;
  const api = ports.clusterApi(cluster);
  const verdicts: Verdict[] = [];
  const definitions = (await objectsFor(cluster, outputs, ports)).filter(isDefinition);
  for (const next of definitions) {
    if (await staysOthers(next, api)) continue;
    const current = await api.find(next);
    const versions = lostVersions(current, next);
    if (versions.length > 0)
      verdicts.push(
        fault(
          `${next.metadata.name} has objects that may be stored as ${versions.join(", ")}, which this release cannot read; write them again and correct status.storedVersions, as docs/deploy.md says under "Admission and v1beta1"`,
        ),
      );
    verdicts.push(...(await fieldVerdicts(next, lostFields(current, next), api)));
  }
  return {
    name,
    ...(verdicts.find(({ level }) => level === "fault") ?? verdicts[0] ?? ok(`${definitions.length}, all that is stored stays readable`)),
  };
}

async function fieldVerdicts(next: KubeObject, fields: readonly FieldPath[], api: ClusterApi): Promise<readonly Verdict[]> {
  if (fields.length === 0) return [];
  const { group, names } = (next as { readonly spec?: unknown }).spec as {
    readonly group: string;
    readonly names: { readonly kind: string };
  };
  const objects = await api.list({ apiVersion: `${group}/v1`, kind: names.kind });
  for (const path of fields) {
    const user = objects.find((object) => says(object, path));
    if (user !== undefined)
      return [
        fault(
          `${names.kind} ${user.metadata.name} sets ${pathText(path)}, which this release does not know and its next write would lose; use a release that has it, or take the field out`,
        ),
      ];
  }
  const shown = fields.slice(0, 3).map(pathText).join(", ");
  return [
    note(
      `${next.metadata.name}: ${shown}${fields.length > 3 ? ` and ${fields.length - 3} more fields` : ""} are no longer there; no object sets them`,
    ),
  ];
}

/**
 * Applies the definitions, and widens the roles: until the stack is updated, functions of both releases run, each with
 * the rights that it needs.
 */
export async function prepareCluster(cluster: string, outputs: Outputs, ports: UpgradePorts, print: Print): Promise<void> {
  const api = ports.clusterApi(cluster);
  const objects = await objectsFor(cluster, outputs, ports);
  await applyObjects(objects.filter(isDefinition), { api, print, sleep: ports.sleep });
  for (const object of objects.filter(({ kind }) => kind === "ClusterRole" || kind === "Role")) {
    const found = (await api.find(object)) as (KubeObject & { readonly rules?: readonly unknown[] }) | undefined;
    const wanted = (object as { readonly rules?: readonly unknown[] }).rules ?? [];
    const old = (found?.rules ?? []).filter((rule) => !wanted.some((own) => isDeepStrictEqual(own, rule)));
    await api.apply({ ...object, rules: [...wanted, ...old] } as KubeObject);
  }
}

/** Applies all manifests of this release, for the stack as it is now. */
export async function finishCluster(cluster: string, outputs: Outputs, ports: UpgradePorts, print: Print): Promise<void> {
  const applying = { api: ports.clusterApi(cluster), print, sleep: ports.sleep };
  const objects = await objectsFor(cluster, outputs, ports);
  await applyObjects(objects, applying);
  await removeOutdated(objects, applying);
}
