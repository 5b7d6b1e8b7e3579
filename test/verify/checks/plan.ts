import type { Group } from "../program.ts";

const ANSWERS = "scenarios with Karpenter's answers (not in the repository)";

export const PLAN: Group = {
  title: "Is the plan right, and is it good?",
  programs: [
    {
      name: "conformance",
      answers: "does each plan keep the hard rules, and is it cheaper than Karpenter's own answer?",
      file: "test/conformance/scheduling.ts",
      takes: "[FOLDER]",
      minutes: 1,
      needs: [ANSWERS],
    },
    {
      name: "consolidations",
      answers: "the same for consolidation, repeated until no command follows",
      file: "test/conformance/consolidation.ts",
      takes: "FOLDER --converge",
      minutes: 2,
      needs: [ANSWERS],
    },
    {
      name: "clusters",
      answers: "the same for generated underutilized clusters, with Karpenter asked",
      file: "test/conformance/clusters/compare.ts",
      minutes: 30,
      needs: ["Go"],
    },
    {
      name: "peer",
      answers: "what is the answer to Karpenter's own specs: alike, another lawful choice, or differing?",
      file: "test/conformance/peer.ts",
      takes: "[FOLDER]",
      minutes: 1,
      needs: [ANSWERS],
    },
    {
      name: "generate",
      answers: "writes scenarios at the edges of the rules",
      file: "test/conformance/generate.ts",
      takes: "--seed S --count N --out FOLDER [--kind K]",
      minutes: 1,
      needs: [],
    },
    {
      name: "kube-judge",
      answers: "do kube-scheduler's own filters accept each placement?",
      file: "test/conformance/kube-judge.ts",
      takes: "FOLDER",
      minutes: 3,
      needs: ["Go"],
    },
    {
      name: "differential",
      answers: "what does Karpenter itself answer for these scenarios?",
      file: "test/conformance/differential.ts",
      takes: "FOLDER",
      minutes: 5,
      needs: ["Go"],
    },
    {
      name: "projects",
      answers: "does the lab play the manifests of public projects, and what do they cost beside Karpenter's plan?",
      file: "test/conformance/projects.ts",
      takes: "FOLDER [--oracle]",
      minutes: 5,
      needs: ["manifests of projects (not in the repository)", "Go"],
    },
    {
      name: "worked-example",
      answers: "writes docs/how-a-plan-is-found.md from two scenarios",
      file: "test/worked-example/write.ts",
      minutes: 1,
      needs: [],
    },
  ],
};
