import type { Rule } from "./rule.ts";

/** What cannot be read, as the requests of a pod, may need room that no other node has. */
export const unreadable: Rule = ({ node }, { snapshot }) => {
  const problem = node && snapshot.untouchable?.get(node.metadata.name);
  return problem === undefined ? undefined : { reason: "Unreadable", problem };
};
