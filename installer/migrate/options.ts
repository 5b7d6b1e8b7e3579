/** The words of `adopt` that `install --from-karpenter` takes too. */
export const ADOPT_OPTIONS = {
  deployment: {
    type: "text",
    value: "NAMESPACE/NAME",
    description: "Karpenter's Deployment, where its label or image does not name it",
  },
  "keep-deployment": {
    type: "flag",
    description: "do not scale Karpenter's Deployment: it must be at 0, as a repository has it",
  },
} as const;
