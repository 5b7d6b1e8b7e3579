/**
 * How a subscription filter selects records: by fields of the JSON, or by plain words where JSON patterns are not
 * available.
 */
type AuditPattern = "json" | "text";

/** Prefix of the Kubernetes users of the functions' access entries: their own writes need no wake-up. */
export const USER_PREFIX = "karpenter-serverless:";

// A repeated patch leaves out the unchanged reason, and only the response contains it.
const POD_BECAME_UNSCHEDULABLE_OR_ENDED =
  '($.verb = "patch") && ($.objectRef.subresource = "status") && (($.requestObject.status.conditions[0].reason = "Unschedulable") || ' +
  '($.responseObject.status.conditions[0].reason = "Unschedulable") || ' +
  '($.requestObject.status.phase = "Succeeded") || ($.requestObject.status.phase = "Failed"))';
const POD_BOUND = '($.verb = "create") && ($.objectRef.subresource = "binding")';
// Deleted by the pod's node: the first delete only requests the deletion.
const POD_GONE = '($.verb = "delete") && ($.requestObject.gracePeriodSeconds = 0)';
// Reads and heartbeats are logged at the level Request.
const NODE_WRITTEN = '($.objectRef.resource = "nodes") && ($.level = "RequestResponse")';
const OUR_KIND_WRITTEN =
  '(($.objectRef.apiGroup = "karpenter.*") || ($.objectRef.apiGroup = "autoscaling.x-*") || ($.objectRef.resource = "podtemplates")) && ($.objectRef.subresource NOT EXISTS) && ($.verb != "get") && ($.verb != "list") && ($.verb != "watch")';

const PATTERNS: Readonly<Record<AuditPattern, string>> = {
  json:
    `{ ($.responseStatus.code < 300) && ($.user.username != "${USER_PREFIX}*") && (` +
    `(($.objectRef.resource = "pods") && ((${POD_BECAME_UNSCHEDULABLE_OR_ENDED}) || (${POD_BOUND}) || (${POD_GONE}))) || ` +
    `(${NODE_WRITTEN}) || (${OUR_KIND_WRITTEN})) }`,
  text: '"system:kube-scheduler" "Unschedulable" "PodScheduled"',
};

/**
 * The filter pattern (at most 1,024 characters) of the records that core/signals/audit-record.ts reads; `text` selects
 * unschedulable pods only.
 */
export function auditFilterPattern(kind: AuditPattern): string {
  return PATTERNS[kind];
}
