import { type Group, STACK } from "../program.ts";

export const KARPENTER: Group = {
  title: "Is it better than Karpenter itself?",
  programs: [
    {
      name: "versus",
      answers: "the real Karpenter and the deployed functions play the same courses: machines, $, evictions, times, requests",
      file: "test/versus/main.ts",
      takes: "[COURSE...] [--list] [--quick]",
      minutes: 45,
      needs: STACK,
    },
    {
      name: "kubelet-cel",
      answers:
        "do expressions and settings of `spec.kubelet` have the values and verdicts of Karpenter's own packages, for all instance types?",
      file: "test/kubelet-cel/main.ts",
      takes: "[--drawn N] [--seed S]",
      minutes: 1,
      needs: ["Go"],
    },
  ],
};
