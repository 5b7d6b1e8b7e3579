// core/node-class: what an EC2NodeClass means: its status, readiness, hash, images, instance profile and reservations.
// EC2NodeClass objects and the answers of CloudInventory come in; statuses and verdicts go out. Launches and AWS calls
// must not be known here.

import { equalJson } from "../lib/json.ts";
import { type ConditionChange, conditionOf, withCondition, withoutCondition, withReady } from "../model/conditions.ts";
import type { Condition } from "../model/kubernetes.ts";
import type { EC2NodeClass, EC2NodeClassStatus, ResolvedAmi, ResolvedPlacementGroup, ResolvedReservation } from "../model/node-class.ts";
import { restrictedTags } from "../model/tags.ts";
import type { Subnet } from "../ports/cloud-inventory.ts";
import { amiFamilyOf } from "./family.ts";
import { kubeletProblems, unsupportedKubelet } from "./kubelet.ts";
import { expressionProblems } from "./kubelet-expressions.ts";

/** A lookup that failed for a passing reason; the previous answer stays if it is of the same generation. */
export interface Failed {
  readonly error: string;
}

/** The results of one round of lookups; an absent field was not looked up. */
export interface Findings {
  readonly amis?: readonly ResolvedAmi[] | { readonly unsupported: string } | Failed;
  /** "off" when the feature gate ReservedCapacity is off. */
  readonly capacityReservations?: readonly ResolvedReservation[] | "off" | Failed;
  /** "none" when the spec selects no group, "missing" when the selected group does not exist. */
  readonly placementGroup?: ResolvedPlacementGroup | "none" | "missing" | Failed;
  readonly subnets?: readonly Subnet[] | Failed;
  readonly securityGroups?: readonly { readonly id: string; readonly name: string }[] | Failed;
  readonly instanceProfile?: string | Failed;
  /** Service network of the cluster; AL2023 nodes do not boot without it. */
  readonly serviceCidr?: string;
  /** Instance types for which an expression in spec.kubelet has no value. */
  readonly kubeletFailures?: { readonly all: boolean; readonly message: string };
}

const DEPENDENCIES = ["AMIsReady", "SubnetsReady", "SecurityGroupsReady", "InstanceProfileReady"];
/** The dependents of Ready; CapacityReservationsReady exists only while the feature gate ReservedCapacity is on. */
const DEPENDENTS = [
  "AMIsReady",
  "PlacementGroupReady",
  "SubnetsReady",
  "SecurityGroupsReady",
  "InstanceProfileReady",
  "ValidationSucceeded",
];
const RESERVATIONS_READY = "CapacityReservationsReady";

/**
 * The status after a round of lookups. `now` in ms. Conditions and reasons are Karpenter's
 * (karpenter-provider-aws: pkg/controllers/nodeclass/controller.go, Controller.Reconcile).
 */
export function nodeClassStatus(nodeClass: EC2NodeClass, findings: Findings, now: number): EC2NodeClassStatus {
  const at = { now, ...(nodeClass.metadata.generation !== undefined && { generation: nodeClass.metadata.generation }) };
  const { amis, capacityReservations, placementGroup, subnets, securityGroups, instanceProfile } = findings;
  let status: EC2NodeClassStatus = nodeClass.status ?? {};
  let conditions: readonly Condition[] = status.conditions ?? [];
  const set = (change: ConditionChange): void => {
    conditions = withCondition(conditions, change, at);
  };
  const failed = (type: string, { error }: Failed): void => {
    const old = conditionOf(conditions, type);
    if (old?.status === "True" && old.observedGeneration === at.generation) return;
    set({ type, status: "Unknown", reason: "LookupFailed", message: error });
  };

  if (amis !== undefined) {
    if ("error" in amis) failed("AMIsReady", amis);
    else if ("unsupported" in amis) {
      status = { ...status, amis: [] };
      set({ type: "AMIsReady", status: "False", reason: "UnsupportedAlias", message: amis.unsupported });
    } else {
      status = { ...status, amis };
      set(verdict("AMIsReady", amis.length, "AMINotFound", "no AMI matches spec.amiSelectorTerms; correct the terms"));
    }
  }
  if (capacityReservations === "off") {
    const { capacityReservations: _off, ...others } = status;
    status = others;
    conditions = withoutCondition(conditions, RESERVATIONS_READY);
  } else if (capacityReservations !== undefined) {
    if ("error" in capacityReservations) failed(RESERVATIONS_READY, capacityReservations);
    else {
      status = { ...status, capacityReservations };
      set({ type: RESERVATIONS_READY, status: "True" });
    }
  }
  if (placementGroup !== undefined) {
    const { placementGroup: _old, ...others } = status;
    if (typeof placementGroup === "string") {
      status = others;
      const { name, id } = nodeClass.spec.placementGroupSelector ?? {};
      const missing = {
        status: "False",
        reason: "PlacementGroupNotFound",
        message: `there is no available placement group ${name ?? id}; create it, or correct spec.placementGroupSelector`,
      } as const;
      set({ type: "PlacementGroupReady", ...(placementGroup === "none" ? { status: "True" } : missing) });
    } else if (!("error" in placementGroup)) {
      status = { ...status, placementGroup };
      set({ type: "PlacementGroupReady", status: "True" });
    } else failed("PlacementGroupReady", placementGroup);
  }
  if (subnets !== undefined) {
    if ("error" in subnets) failed("SubnetsReady", subnets);
    else {
      const sorted = [...subnets].sort((a, b) => b.availableIps - a.availableIps || (a.id < b.id ? -1 : 1));
      const listed = sorted.map(({ id, zone, zoneId }) => ({ id, zone, zoneID: zoneId }));
      // Each launch changes the order, and compares the free addresses again: that alone is nothing to write.
      if (!equalJson(byId(listed), byId(status.subnets ?? []))) status = { ...status, subnets: listed };
      set(
        verdict(
          "SubnetsReady",
          subnets.length,
          "SubnetsNotFound",
          "no subnet matches spec.subnetSelectorTerms; correct the terms, or tag the subnets",
        ),
      );
    }
  }
  if (securityGroups !== undefined) {
    if ("error" in securityGroups) failed("SecurityGroupsReady", securityGroups);
    else {
      status = { ...status, securityGroups: byId(securityGroups) };
      const none = "no security group matches spec.securityGroupSelectorTerms; correct the terms, or tag the groups";
      set(verdict("SecurityGroupsReady", securityGroups.length, "SecurityGroupsNotFound", none));
    }
  }
  if (instanceProfile !== undefined) {
    if (typeof instanceProfile !== "string") failed("InstanceProfileReady", instanceProfile);
    else {
      status = { ...status, instanceProfile };
      set({ type: "InstanceProfileReady", status: "True" });
    }
  }
  set(validation(nodeClass, conditions, findings));
  const gated = conditionOf(conditions, RESERVATIONS_READY) ? [RESERVATIONS_READY] : [];
  return { ...status, conditions: withReady(conditions, [...DEPENDENTS, ...gated], at) };
}

function verdict(type: string, found: number, reason: string, message: string): ConditionChange {
  return found > 0 ? { type, status: "True" } : { type, status: "False", reason, message };
}

/**
 * Whether nodes can be created from what was found. Karpenter also tests a launch with dry-run calls. Here another IAM
 * role launches, so that a test would check the wrong permissions; a refused launch shows on the NodeClaim.
 */
function validation(nodeClass: EC2NodeClass, conditions: readonly Condition[], findings: Findings): ConditionChange {
  const { serviceCidr, kubeletFailures: failures } = findings;
  const type = "ValidationSucceeded";
  const bad = (reason: string, message: string): ConditionChange => ({ type, status: "False", reason, message });
  if (amiFamilyOf(nodeClass.spec) === "AL2023" && serviceCidr === undefined) {
    return bad("ClusterCIDRResolutionFailed", "the cluster's service network is not known, and AL2023 nodes do not start without it");
  }
  const statuses = DEPENDENCIES.map((dependency) => conditionOf(conditions, dependency)?.status ?? "Unknown");
  const open = DEPENDENCIES.filter((_, i) => statuses[i] !== "True").join(", ");
  if (statuses.includes("False")) return bad("DependenciesNotReady", `not ready: ${open}`);
  if (open !== "") return { type, status: "Unknown", reason: "DependenciesNotReady", message: `not known yet: ${open}` };
  const kubelet = kubeletProblems(nodeClass.spec.kubelet);
  if (kubelet.length > 0) return bad("InvalidKubeletConfiguration", sentences(kubelet));
  const expressions = expressionProblems(nodeClass.spec.kubelet);
  if (expressions.length > 0) return bad("KubeletExpressionInvalid", sentences(expressions));
  const unsupported = unsupportedKubelet(nodeClass.spec.kubelet, amiFamilyOf(nodeClass.spec));
  if (unsupported.length > 0) return bad("UnsupportedKubeletConfiguration", sentences(unsupported));
  const [tag] = restrictedTags(nodeClass.spec.tags);
  if (tag !== undefined) return bad("TagValidationFailed", `spec.tags may not set "${tag}", which is set for every instance; take it out`);
  if (failures?.all) return bad("KubeletExpressionEvaluationFailed", failures.message);
  return { type, status: "True", ...(failures && { message: failures.message }) };
}

/** As many problems as a reader corrects at once. */
const sentences = (problems: readonly string[]): string =>
  problems.length > 10 ? `${problems.slice(0, 10).join("; ")}; and ${problems.length - 10} more` : problems.join("; ");

const byId = <T extends { readonly id: string }>(list: readonly T[]): readonly T[] => [...list].sort((a, b) => (a.id < b.id ? -1 : 1));
