/** A label's value holds so many characters. */
const LONGEST = 63;

/** Names of NodePools and EC2NodeClasses become values of labels on claims and nodes, which the API server refuses when they are longer. */
export function nameProblems(name: string, label: string): readonly string[] {
  return name.length <= LONGEST
    ? []
    : [`metadata.name has ${name.length} characters; nodes carry it as the value of label ${label}, so use ${LONGEST} at most`];
}
