import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { cacheDir } from "../e2e/support/paths.ts";

// AWS's own models of its services, as its SDKs are made from them. They come with MiniStack's Python environment
// (botocore), so that no call can be judged by what this project believes of AWS.

/** A shape of a service's model. */
export interface Shape {
  readonly type: string;
  readonly members?: Readonly<Record<string, Member>>;
  readonly required?: readonly string[];
  readonly member?: Member;
  readonly key?: Member;
  readonly value?: Member;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly min?: number;
  readonly max?: number;
  readonly flattened?: boolean;
  readonly payload?: string;
}

export interface Member {
  readonly shape: string;
  readonly locationName?: string;
  readonly location?: "uri" | "querystring" | "header" | "headers" | "statusCode";
  readonly queryName?: string;
}

export interface Operation {
  readonly name: string;
  readonly http: { readonly method: string; readonly requestUri: string };
  readonly input?: { readonly shape: string };
}

export interface ServiceModel {
  readonly metadata: { readonly protocol: string; readonly targetPrefix?: string; readonly apiVersion: string; readonly serviceId: string };
  readonly operations: Readonly<Record<string, Operation>>;
  readonly shapes: Readonly<Record<string, Shape>>;
}

/** The folder of a service's model by the name that requests are signed for. */
const FOLDERS: Readonly<Record<string, string>> = {
  monitoring: "cloudwatch",
  servicequotas: "service-quotas",
  tagging: "resourcegroupstaggingapi",
  "arc-zonal-shift": "arc-zonal-shift",
  apigateway: "apigatewayv2",
};

let folder: string | undefined;
const models = new Map<string, ServiceModel | undefined>();

/** The model of a service by the name that requests are signed for; undefined when AWS has none. */
export function modelOf(service: string): ServiceModel | undefined {
  if (models.has(service)) return models.get(service);
  folder ??= dataFolder();
  const place = join(folder, FOLDERS[service] ?? service);
  let model: ServiceModel | undefined;
  try {
    const version = readdirSync(place).sort().at(-1) ?? "";
    model = JSON.parse(gunzipSync(readFileSync(join(place, version, "service-2.json.gz"))).toString("utf8")) as ServiceModel;
  } catch {
    model = undefined;
  }
  models.set(service, model);
  return model;
}

/** The folder of the models, with the list of endpoints. */
export function dataFolder(): string {
  const lib = join(cacheDir("ministack"), "lib");
  const python = readdirSync(lib).find((name) => name.startsWith("python3")) ?? "";
  return join(lib, python, "site-packages/botocore/data");
}

export const shapeOf = (model: ServiceModel, name: string): Shape => {
  const shape = model.shapes[name];
  if (shape === undefined) throw new Error(`the model of ${model.metadata.serviceId} has no shape ${name}`);
  return shape;
};

/**
 * What is wrong with an input, by the model: members that the service does not know, members that are missing, values
 * of another type, out of their range or pattern. Empty when the service would accept its form. `isTyped` tells that
 * numbers and booleans are not written as text, as on the wire of most protocols.
 */
export function inputFaults(model: ServiceModel, operation: Operation, input: unknown, isTyped = false): readonly string[] {
  return operation.input === undefined ? [] : faultsOf({ model, isTyped }, operation.input.shape, input, operation.name);
}

/** The model that a value is judged by, and how values are written. */
interface Judge {
  readonly model: ServiceModel;
  readonly isTyped: boolean;
}

function faultsOf(judge: Judge, name: string, value: unknown, path: string): readonly string[] {
  const shape = shapeOf(judge.model, name);
  switch (shape.type) {
    case "structure":
      return structureFaults(judge, shape, value, path);
    case "list": {
      if (!Array.isArray(value)) return [`${path} is no list`];
      const { member } = shape;
      return [
        ...rangeFaults(shape, value.length, path, "items"),
        ...(member === undefined ? [] : value.flatMap((item, i) => faultsOf(judge, member.shape, item, `${path}.${i}`))),
      ];
    }
    case "map": {
      if (!isMap(value)) return [`${path} is no map`];
      const { value: member } = shape;
      return member === undefined
        ? []
        : Object.entries(value).flatMap(([key, part]) => faultsOf(judge, member.shape, part, `${path}.${key}`));
    }
    default:
      return scalarFaults(judge, shape, value, path);
  }
}

function structureFaults(judge: Judge, { members = {}, required = [] }: Shape, value: unknown, path: string): readonly string[] {
  if (!isMap(value)) return [`${path} is no structure`];
  const missing = required.filter((key) => value[key] === undefined).map((key) => `${path}.${key} is missing`);
  const wrong = Object.entries(value).flatMap(([key, part]) => {
    const member = members[key];
    if (part === undefined) return [];
    return member === undefined ? [`${path}.${key} is not known`] : faultsOf(judge, member.shape, part, `${path}.${key}`);
  });
  return [...missing, ...wrong];
}

function scalarFaults({ isTyped }: Judge, shape: Shape, value: unknown, path: string): readonly string[] {
  const is = (type: string): boolean => !isTyped || typeof value === type;
  switch (shape.type) {
    case "string":
      return is("string") ? textFaults(shape, String(value), path) : [`${path} is no text: ${String(value)}`];
    case "boolean":
      return is("boolean") && /^(true|false)$/.test(String(value)) ? [] : [`${path} is no boolean: ${String(value)}`];
    case "integer":
    case "long":
      return is("number") && /^-?\d+$/.test(String(value))
        ? rangeFaults(shape, Number(value), path, "")
        : [`${path} is no whole number: ${String(value)}`];
    case "float":
    case "double":
      return is("number") && !Number.isNaN(Number(value)) ? [] : [`${path} is no number: ${String(value)}`];
    default:
      return [];
  }
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function rangeFaults({ min, max }: Shape, value: number, path: string, what: string): readonly string[] {
  if (min !== undefined && value < min) return [`${path} has ${value} ${what}, at least ${min} are asked`.replace("  ", " ")];
  if (max !== undefined && value > max) return [`${path} has ${value} ${what}, at most ${max} are taken`.replace("  ", " ")];
  return [];
}

function textFaults(shape: Shape, text: string, path: string): readonly string[] {
  if (shape.enum !== undefined && !shape.enum.includes(text)) return [`${path} is ${text}, which is none of ${shape.enum.join(", ")}`];
  const { pattern } = shape;
  return [
    ...rangeFaults(shape, text.length, path, "characters"),
    ...(pattern !== undefined && !patternOf(pattern).test(text) ? [`${path} is ${text}, which ${pattern} does not match`] : []),
  ];
}

/** A pattern of a model is Java's; it holds for the whole text. One that is none of JavaScript's admits everything. */
function patternOf(pattern: string): RegExp {
  try {
    return new RegExp(`^(?:${pattern})$`, "su");
  } catch {
    try {
      return new RegExp(`^(?:${pattern})$`, "s");
    } catch {
      return /^/;
    }
  }
}
