import { HOSTNAME } from "../../model/labels.ts";
import type { Pod } from "../../model/pod.ts";
import { requirement } from "../../requirements/requirement.ts";
import type { Requirements } from "../../requirements/requirements.ts";
import type { PodData } from "../problem/pod-class.ts";
import type { Template } from "../problem/template.ts";
import { claimNames } from "../rules/volumes.ts";
import { placesOf } from "./places.ts";
import { inOrder, listed, requirementText } from "./words.ts";

/** Why a pod that is tied to hosts by name, itself or by its volumes, cannot run on a new node. */
export function hostText({ strict, class: { example, volumeAlternatives } }: PodData): string {
  const hosts = volumeAlternatives.flatMap((set) => set.get(HOSTNAME) ?? []);
  const own = strict.get(HOSTNAME);
  if (hosts.length === 0 || own !== undefined)
    return `the pod wants the host ${requirementText(own ?? NO_HOST)}, which a new node cannot be`;
  return `${claimsText(example)} can only be used with ${inOrder(hosts.map(requirementText)).join(" or ")}, which a new node cannot be; bring that node back, or restore the data to a new volume`;
}

const NO_HOST = requirement(HOSTNAME, "DoesNotExist");

function claimsText(pod: Pod): string {
  const claims = claimNames(pod);
  return `PersistentVolumeClaim${claims.length === 1 ? "" : "s"} ${listed(claims)}`;
}

/**
 * Where the pod's volumes can be used, and where the pool's nodes can be. `node`: requirements of the pool and of the
 * pod.
 */
export function volumeText(template: Template, podData: PodData, node: Requirements): string {
  const where = podData.volumeSets.map(({ requirements }) => inOrder([...requirements.values()].map(requirementText)).join(" and "));
  const keys = new Set(podData.volumeSets.flatMap(({ requirements }) => [...requirements.keys()]));
  const offers = inOrder(keys).flatMap((key) => {
    const open = placesOf(template, template.types, node, key);
    return open.length === 0 ? [] : [`${key} ${listed(open)}`];
  });
  const here = offers.length === 0 ? "its nodes cannot be there" : `the pool can only place the pod in ${offers.join(", ")}`;
  return `${claimsText(podData.class.example)} can only be used with ${where.join(" or ")}, and ${here}; give the pool room there (requirements, subnets), or move the data`;
}
