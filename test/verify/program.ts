/** What a program needs beyond npm. `.ci/run` installs all but Go, Java, Maven and Python. */
export type Need =
  | "Go"
  | "Java"
  | "Maven"
  | "Python"
  | "git"
  | "openssl"
  | "jq"
  | "chromium"
  | "Prometheus"
  | "a C++ compiler, make and cmake"
  | "scenarios with Karpenter's answers (not in the repository)"
  | "manifests of projects (not in the repository)";

/** A program that a person or `.ci/run` starts by its name. */
export interface Program {
  readonly name: string;
  /** The question that it answers; of a bench, what it prints. */
  readonly answers: string;
  /** Path from the project's root. */
  readonly file: string;
  /** Arguments used when none are given. */
  readonly args?: readonly string[];
  /** Arguments that a person may give, as in a synopsis. */
  readonly takes?: string;
  /** On two quiet cores, downloads and first builds left out. */
  readonly minutes: number;
  readonly needs: readonly Need[];
}

/** Programs under one heading. */
export interface Group {
  readonly title: string;
  readonly programs: readonly Program[];
}

export const programsOf = (groups: readonly Group[]): readonly Program[] => groups.flatMap(({ programs }) => programs);

/** What real AWS stand-ins, the functions' workers and a control plane need. */
export const STACK: readonly Need[] = ["Go", "Java", "Maven", "Python"];
