/** Kubernetes' limit of a label value. */
const MAX_LABEL_VALUE = 63;

/**
 * Names of NodePools and EC2NodeClasses become label values of NodeClaims and nodes; the API server refuses longer
 * label values.
 */
export function nameProblems(name: string, label: string): readonly string[] {
  return name.length <= MAX_LABEL_VALUE
    ? []
    : [`metadata.name has ${name.length} characters; nodes carry it as the value of label ${label}, so use ${MAX_LABEL_VALUE} at most`];
}
