import type { Requirements } from "../../requirements/requirements.ts";
import type { PodData } from "../problem/pod-class.ts";
import type { Template } from "../problem/template.ts";
import { claimNames } from "../rules/volumes.ts";
import { placesOf } from "./places.ts";
import { inOrder, listed, requirementText } from "./words.ts";

/**
 * Where the pod's volumes can be used, and where the pool's nodes can be. `node`: requirements of the pool and of the
 * pod.
 */
export function volumeText(template: Template, podData: PodData, node: Requirements): string {
  const claims = claimNames(podData.class.example);
  const where = podData.volumeSets.map(({ requirements }) => inOrder([...requirements.values()].map(requirementText)).join(" and "));
  const keys = new Set(podData.volumeSets.flatMap(({ requirements }) => [...requirements.keys()]));
  const offers = inOrder(keys).flatMap((key) => {
    const open = placesOf(template, template.types, node, key);
    return open.length === 0 ? [] : [`${key} ${listed(open)}`];
  });
  const here = offers.length === 0 ? "its nodes cannot be there" : `the pool can only place the pod in ${offers.join(", ")}`;
  const claim = `PersistentVolumeClaim${claims.length === 1 ? "" : "s"} ${listed(claims)}`;
  return `${claim} can only be used with ${where.join(" or ")}, and ${here}; give the pool room there (requirements, subnets), or move the data`;
}
