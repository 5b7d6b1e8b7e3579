/** How a subscription filter picks records: fields of the JSON, or plain words where JSON patterns are not to be had. */
export type AuditPattern = "json" | "text";

/** Users that the access entries give the functions begin with it: what they did themselves is no news. */
export const USER_PREFIX = "karpenter-serverless:";

// A repeated patch leaves out the reason, which has not changed; then only the response has it.
const POD_BECAME_UNSCHEDULABLE_OR_ENDED =
  '($.verb = "patch") && ($.objectRef.subresource = "status") && (($.requestObject.status.conditions[0].reason = "Unschedulable") || ' +
  '($.responseObject.status.conditions[0].reason = "Unschedulable") || ' +
  '($.requestObject.status.phase = "Succeeded") || ($.requestObject.status.phase = "Failed"))';
const POD_BOUND = '($.verb = "create") && ($.objectRef.subresource = "binding")';
// Deleted by its node: the first delete only asks for it.
const POD_GONE = '($.verb = "delete") && ($.requestObject.gracePeriodSeconds = 0)';
// Reads and heartbeats are logged at level Request.
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

/** The filter pattern (at most 1,024 characters) that rings for what core/signals/audit-record.ts reads; `text` rings for unschedulable pods alone. */
export function auditFilterPattern(kind: AuditPattern): string {
  return PATTERNS[kind];
}
