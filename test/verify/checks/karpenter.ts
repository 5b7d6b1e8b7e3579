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
  ],
};
