import { type Member, modelOf, type Operation, type ServiceModel, type Shape, shapeOf } from "./service-models.ts";

// Which operation of which service a request is, and its input in the form of the service's model, for all protocols
// that the commands and the functions speak: query, ec2, json, rest-json and rest-xml.

export interface RawRequest {
  readonly method: string;
  /** With the query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

export interface AwsCall {
  /** The name that the request is signed for, as in "lambda". */
  readonly service: string;
  readonly region: string;
  readonly accessKey: string;
  /** The operation's name; undefined where the model has no such operation. */
  readonly action: string | undefined;
  readonly input: unknown;
}

/** Undefined for a request that nobody has signed. */
export function understand({ method, url, headers, body }: RawRequest): AwsCall | undefined {
  const signed = /Credential=([^/,\s]+)\/\d+\/([^/]+)\/([^/]+)\/aws4_request/.exec(String(headers["authorization"] ?? ""));
  const place = new URL(url, "http://aws");
  const byQuery = /^([^/]+)\/\d+\/([^/]+)\/([^/]+)\/aws4_request$/.exec(place.searchParams.get("X-Amz-Credential") ?? "");
  const [, accessKey, region, service] = signed ?? byQuery ?? [];
  if (accessKey === undefined || region === undefined || service === undefined) return undefined;
  const caller = { service, region, accessKey };
  const model = modelOf(service);
  if (model === undefined) return { ...caller, action: undefined, input: undefined };
  const target = headers["x-amz-target"];
  if (typeof target === "string") {
    const action = target.slice(target.lastIndexOf(".") + 1);
    return { ...caller, action: model.operations[action] && action, input: JSON.parse(body.toString("utf8") || "{}") };
  }
  const form = new URLSearchParams(body.length > 0 ? body.toString("utf8") : place.search);
  const action = form.get("Action");
  if (action !== null && model.operations[action] !== undefined) return { ...caller, action, input: ofForm(form, model, action) };
  return { ...caller, ...ofPath(model, method, place, headers, body) };
}

/** Parameters of the query protocols as a tree: `A.member.1.B=x` is { A: [{ B: "x" }] }. */
function ofForm(form: URLSearchParams, model: ServiceModel, action: string): unknown {
  const input = model.operations[action]?.input;
  const isEc2 = model.metadata.protocol === "ec2";
  const given = [...form].filter(([key]) => key !== "Action" && key !== "Version" && !key.startsWith("X-Amz-"));
  return input === undefined ? Object.fromEntries(given) : ofParameters(given, shapeOf(model, input.shape), model, isEc2);
}

type Parameters = readonly (readonly [string, string])[];

function ofParameters(given: Parameters, shape: Shape, model: ServiceModel, isEc2: boolean): unknown {
  switch (shape.type) {
    case "structure": {
      const names = new Map(Object.entries(shape.members ?? {}).map(([name, member]) => [nameIn(name, member, isEc2), { name, member }]));
      return Object.fromEntries(
        [...grouped(given)].map(([key, rest]) => {
          const { name = key, member } = names.get(key) ?? {};
          return [name, member === undefined ? rest[0]?.[1] : ofParameters(rest, shapeOf(model, member.shape), model, isEc2)];
        }),
      );
    }
    case "list": {
      const { member } = shape;
      const inner = isEc2 || shape.flattened ? given : given.map(([key, value]) => [key.replace(/^[^.]+\.?/, ""), value] as const);
      if (member === undefined) return [];
      return [...grouped(inner)].map(([, rest]) => ofParameters(rest, shapeOf(model, member.shape), model, isEc2));
    }
    case "map": {
      const entries = grouped(given.map(([key, value]) => [key.replace(/^entry\./, ""), value] as const));
      return Object.fromEntries(
        [...entries].map(([, rest]) => [rest.find(([key]) => key === "key")?.[1] ?? "", rest.find(([key]) => key === "value")?.[1]]),
      );
    }
    default:
      return given[0]?.[1];
  }
}

/** By the first part of their keys, with the rest of each. */
function grouped(given: Parameters): ReadonlyMap<string, Parameters> {
  const groups = new Map<string, [string, string][]>();
  for (const [key, value] of given) {
    const at = key.indexOf(".");
    const first = at < 0 ? key : key.slice(0, at);
    groups.set(first, [...(groups.get(first) ?? []), [at < 0 ? "" : key.slice(at + 1), value]]);
  }
  return groups;
}

/** EC2 begins names with a capital, and has names of its own in requests. */
function nameIn(name: string, { queryName, locationName }: Member, isEc2: boolean): string {
  if (!isEc2) return locationName ?? name;
  const written = queryName ?? locationName ?? name;
  return `${written.charAt(0).toUpperCase()}${written.slice(1)}`;
}

/** The operation of a REST service: the one with the most literal path that fits. */
function ofPath(
  model: ServiceModel,
  method: string,
  place: URL,
  headers: RawRequest["headers"],
  body: Buffer,
): Pick<AwsCall, "action" | "input"> {
  const fitting = Object.values(model.operations).flatMap((operation) => {
    const { requestUri } = operation.http;
    const [path = "", query = ""] = requestUri.split("?");
    if (operation.http.method !== method) return [];
    if (query.split("&").some((word) => word !== "" && !place.searchParams.has(word.split("=")[0] ?? ""))) return [];
    // S3's service names its buckets in the path, and some of its operations "/" + the rest of a host.
    const pattern = path.replace(/\/$/, "").replaceAll(/[.*?^$()|[\]\\]/g, "\\$&");
    const match = new RegExp(
      `^${pattern.replaceAll(/\{(\w+)(\+)?\}/g, (_, name: string, greedy) => `(?<${name}>${greedy ? ".+" : "[^/]+"})`)}/?$`,
    ).exec(place.pathname);
    return match === null
      ? []
      : [{ operation, query, names: match.groups ?? {}, literal: path.replaceAll(/\{\w+\+?\}/g, "").length + query.length }];
  });
  const required = ({ operation }: (typeof fitting)[number]): boolean => hasRequired(model, operation, place, headers);
  const best = fitting.filter(required).sort((a, b) => b.literal - a.literal)[0];
  if (best === undefined) return { action: undefined, input: undefined };
  return { action: best.operation.name, input: inputOf(model, best.operation, best.names, place, headers, body) };
}

/** S3 tells operations on one path apart by what must be in the query or a header. */
function hasRequired(model: ServiceModel, { input }: Operation, place: URL, headers: RawRequest["headers"]): boolean {
  if (input === undefined) return true;
  const { members = {}, required = [] } = shapeOf(model, input.shape);
  return required.every((name) => {
    const member = members[name];
    const key = member?.locationName ?? name;
    if (member?.location === "header") return headers[key.toLowerCase()] !== undefined;
    return member?.location !== "querystring" || place.searchParams.has(key);
  });
}

function inputOf(
  model: ServiceModel,
  { input }: Operation,
  names: Readonly<Record<string, string>>,
  place: URL,
  headers: RawRequest["headers"],
  body: Buffer,
): unknown {
  if (input === undefined) return {};
  const { members = {}, payload } = shapeOf(model, input.shape);
  const outside = Object.entries(members).flatMap(([name, { location, locationName = name }]): readonly (readonly [string, unknown])[] => {
    if (location === "uri") return names[locationName] === undefined ? [] : [[name, decodeURIComponent(names[locationName])]];
    if (location === "querystring") {
      const all = place.searchParams.getAll(locationName);
      return all.length === 0 ? [] : [[name, isList(model, members[name]) ? all : all[0]]];
    }
    const header = headers[locationName.toLowerCase()];
    return location === "header" && header !== undefined ? [[name, header]] : [];
  });
  const isJson = model.metadata.protocol === "rest-json";
  const text = body.toString("utf8");
  if (payload !== undefined || !isJson || text === "") return Object.fromEntries(outside);
  const inside = Object.entries(JSON.parse(text) as Readonly<Record<string, unknown>>).map(([key, value]) => {
    const name = Object.entries(members).find(
      ([own, member]) => (member.locationName ?? own) === key && member.location === undefined,
    )?.[0];
    return [name ?? key, value] as const;
  });
  return Object.fromEntries([...outside, ...inside]);
}

const isList = (model: ServiceModel, member: Member | undefined): boolean =>
  member !== undefined && shapeOf(model, member.shape).type === "list";
