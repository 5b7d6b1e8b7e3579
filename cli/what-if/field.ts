import { parseDocument } from "yaml";
import { ownValue } from "#core/lib/own-value.ts";
import { manifestProblems } from "#manifests/check.ts";
import { documentValue, textProblem } from "#manifests/yaml.ts";
import { InputError } from "#terminal/input-error.ts";
import { type ChangeDraft, put, unknown } from "./change-draft.ts";

/** Sets one field in the draft: "nodepool/default.spec.disruption.consolidateAfter=30s". Throws InputError. */
export function setField(assignment: string, draft: ChangeDraft): void {
  const [, kind = "", name = "", path = "", value = ""] = /^([a-z0-9]+)\/(.+?)\.(spec\.[^=]+)=(.*)$/is.exec(assignment) ?? [];
  const maps: Readonly<
    Record<string, readonly [string, Map<string, { readonly metadata: { readonly name: string }; readonly spec: unknown }>]>
  > = {
    nodepool: ["NodePool", draft.pools],
    ec2nodeclass: ["EC2NodeClass", draft.classes],
  };
  const [kindName, objects] = ownValue(maps, kind.toLowerCase()) ?? [];
  if (kindName === undefined || objects === undefined)
    throw new InputError(`--set ${assignment}: write nodepool/NAME.spec.FIELD=VALUE or ec2nodeclass/NAME.spec.FIELD=VALUE`);
  const object = objects.get(name);
  if (object === undefined) throw unknown(kindName, name, objects.keys());
  const changed = withField(object, path.split("."), yamlValue(value, assignment)) as object;
  const apiVersion = kindName === "NodePool" ? "karpenter.sh/v1" : "karpenter.k8s.aws/v1";
  const [problem] = manifestProblems({ ...changed, apiVersion, kind: kindName });
  if (problem !== undefined) throw new InputError(`--set ${assignment}: ${problem.path.join(".")} ${problem.message}`);
  put(objects, changed as unknown as { metadata: { name: string }; spec: unknown }, kindName, draft);
}

function yamlValue(text: string, assignment: string): unknown {
  const nested = textProblem(text);
  if (nested !== undefined) throw new InputError(`--set ${assignment.slice(0, 80)}…: ${nested.problem}`);
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error) throw new InputError(`--set ${assignment}: the value is not valid YAML: ${error.message.split("\n")[0]}`);
  const read = documentValue(document);
  if ("problem" in read) throw new InputError(`--set ${assignment}: the value is not valid YAML: ${read.problem}`);
  return read.value;
}

function withField(object: unknown, [key = "", ...rest]: readonly string[], value: unknown): unknown {
  if (Array.isArray(object))
    return object.map((item, i) => (String(i) === key ? (rest.length === 0 ? value : withField(item, rest, value)) : item));
  const old = (typeof object === "object" && object !== null ? object : {}) as Readonly<Record<string, unknown>>;
  return { ...old, [key]: rest.length === 0 ? value : withField(ownValue(old, key), rest, value) };
}
