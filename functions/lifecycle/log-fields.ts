/** Fields that every line about a claim carries, as users of Karpenter search for them. */
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
