import { AwsError, missing } from "./errors.ts";
import type { FakeAwsState } from "./world.ts";

type Parameter = { readonly Name: string; readonly Type: string; readonly Value: string; readonly Version: number; readonly ARN: string };

const parameterOf = (world: FakeAwsState, name: string): Parameter | undefined => {
  const Value = world.parameters.get(name);
  if (Value === undefined) return undefined;
  return { Name: name, Type: "String", Value, Version: world.releases.length, ARN: `arn:aws:ssm:${world.region}::parameter${name}` };
};

/** The public image parameters of EKS, Bottlerocket and Windows, with SSM's own error names. */
export const SSM_ACTIONS: Readonly<Record<string, (world: FakeAwsState, request: Record<string, unknown>) => unknown>> = {
  GetParameter(world, { Name }) {
    if (typeof Name !== "string") throw missing("Name");
    const found = parameterOf(world, Name);
    if (!found) throw new AwsError("ParameterNotFound", `Parameter ${Name} not found.`);
    return { Parameter: found };
  },

  GetParameters(world, { Names }) {
    const names = Array.isArray(Names) ? Names.map(String) : [];
    if (names.length === 0 || names.length > 10) throw new AwsError("ValidationException", "Names must hold 1 to 10 parameter names.");
    return {
      Parameters: names.flatMap((name) => parameterOf(world, name) ?? []),
      InvalidParameters: names.filter((name) => !world.parameters.has(name)),
    };
  },

  GetParametersByPath(world, { Path, Recursive, NextToken, MaxResults }) {
    if (typeof Path !== "string") throw missing("Path");
    const prefix = Path.endsWith("/") ? Path : `${Path}/`;
    const names = [...world.parameters.keys()].filter(
      (name) => name.startsWith(prefix) && (Recursive === true || !name.slice(prefix.length).includes("/")),
    );
    const start = Number(NextToken ?? 0);
    const end = start + Number(MaxResults ?? 10);
    return {
      Parameters: names.slice(start, end).flatMap((name) => parameterOf(world, name) ?? []),
      ...(end < names.length ? { NextToken: String(end) } : {}),
    };
  },
};
