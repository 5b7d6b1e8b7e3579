/** The fields of every log line about a NodeClaim, named as in Karpenter, so that its users find them. */
export function claimLogFields(name: string) {
  return {
    controller: "nodeclaim.lifecycle",
    controllerGroup: "karpenter.sh",
    controllerKind: "NodeClaim",
    NodeClaim: { name },
    namespace: "",
    name,
  };
}
