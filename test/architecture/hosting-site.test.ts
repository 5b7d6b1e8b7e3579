import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ROOT } from "./source-tree.ts";

const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

interface Update {
  readonly "package-ecosystem": string;
  readonly directory?: string;
  readonly directories?: readonly string[];
  readonly groups?: Readonly<Record<string, { readonly patterns: readonly string[] }>>;
}

/** The file that declares dependencies, by ecosystem. */
const MANIFESTS: Readonly<Record<string, string>> = { npm: "package.json", gomod: "go.mod", maven: "pom.xml" };
const SKIPPED = /(?:^|\/)(?:node_modules|dist|cdk\.out|\.cache|\.git)(?:\/|$)/;

const { updates } = parse(read(".github/dependabot.yml")) as { readonly updates: readonly Update[] };
const foldersOf = ({ directory, directories = [] }: Update): readonly string[] => [
  ...(directory === undefined ? [] : [directory]),
  ...directories,
];

describe("the configuration of the dependency bot", () => {
  it.for(Object.entries(MANIFESTS))("has each folder with dependencies of %s", ([ecosystem, file]) => {
    const listed = updates.filter((update) => update["package-ecosystem"] === ecosystem).flatMap(foldersOf);
    const found = globSync(`**/${file}`, { cwd: ROOT, exclude: (name) => SKIPPED.test(name) }).map((path) => join("/", dirname(path)));
    expect(listed.toSorted()).toEqual(found.toSorted());
  });

  it("each pattern of the npm groups fits a package of package.json", () => {
    const packages = JSON.parse(read("package.json")) as Record<"dependencies" | "devDependencies", object>;
    const names = [...Object.keys(packages.dependencies), ...Object.keys(packages.devDependencies)];
    const groups = updates.find(({ directory }) => directory === "/")?.groups ?? {};
    const patterns = Object.values(groups).flatMap((group) => group.patterns);
    expect(patterns.length).toBeGreaterThan(5);
    const fits = (pattern: string): boolean =>
      pattern.endsWith("*") ? names.some((name) => name.startsWith(pattern.slice(0, -1))) : names.includes(pattern);
    expect(patterns.filter((pattern) => !fits(pattern))).toEqual([]);
  });
});

it("the workflow runs each part of .ci/run as a job of at most 20 minutes, with rights to read alone", () => {
  const { permissions, jobs } = parse(read(".github/workflows/check.yml")) as {
    readonly permissions: object;
    readonly jobs: Readonly<
      Record<string, { readonly "timeout-minutes": number; readonly strategy: { readonly matrix: { readonly part: readonly string[] } } }>
    >;
  };
  const parts = /=~ \^\(full\|([\w|]+)\)\$/.exec(read(".ci/run"))?.[1]?.split("|") ?? [];
  expect(parts).toContain("fast");
  expect(jobs["check"]?.strategy.matrix.part.toSorted()).toEqual(parts.toSorted());
  expect(jobs["check"]?.["timeout-minutes"]).toBeLessThanOrEqual(20);
  expect(permissions).toEqual({ contents: "read" });
});
