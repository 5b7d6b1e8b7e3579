import { equalJson, isJsonObject, type Json, type JsonObject, type Path, textAt } from "../../lib/json.ts";
import type { ManifestDraft } from "../draft.ts";
import { NODE_CLASS_KIND } from "../versions.ts";

/** Kubelet settings of an old NodePool or Provisioner; in v1 they belong to EC2NodeClass. */
interface Kubelet {
  readonly settings: JsonObject;
  /** Their path in the given object. */
  readonly from: Path;
}

/** A new object and the kubelet settings taken from it. */
export interface Made {
  readonly draft: ManifestDraft;
  readonly kubelet?: Kubelet;
}

/** The kubelet block of v1: amounts are strings there, and the runtime is always containerd. */
export function kubeletSettings(value: Json): JsonObject | undefined {
  if (!isJsonObject(value)) return undefined;
  const { containerRuntime: _, ...settings } = value;
  const entries = Object.entries(settings).map(([name, one]): [string, Json] => [name, /Reserved$/.test(name) ? asTexts(one) : one]);
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

const asTexts = (amounts: Json): Json =>
  isJsonObject(amounts)
    ? Object.fromEntries(Object.entries(amounts).map(([name, one]) => [name, typeof one === "number" ? String(one) : one]))
    : amounts;

const REF_NAME: Path = ["spec", "template", "spec", "nodeClassRef", "name"];
const KUBELET: Path = ["spec", "kubelet"];

/**
 * Gives each EC2NodeClass the kubelet settings of the NodePools that use it. NodePools with different settings need
 * different classes: those without settings keep the class, else the first NodePool does; the others get copies. `kept`
 * names classes that v1 NodePools use, which have no kubelet settings. Returns the copies by the draft that they were
 * copied from.
 */
export function shareOutKubelets(
  made: readonly Made[],
  kept: ReadonlySet<string | undefined>,
): ReadonlyMap<ManifestDraft, readonly ManifestDraft[]> {
  const pools = made.filter(({ draft }) => draft.object["kind"] === "NodePool");
  const classes = made.filter(({ draft }) => draft.object["kind"] === NODE_CLASS_KIND).map(({ draft }) => draft);
  const names = new Set(classes.map(nameOf));
  const copies = new Map<ManifestDraft, readonly ManifestDraft[]>();
  for (const name of new Set(pools.map(({ draft }) => textAt(draft.object, REF_NAME)))) {
    const users = pools.filter(({ draft }) => textAt(draft.object, REF_NAME) === name);
    const nodeClass = classes.find((draft) => nameOf(draft) === name);
    if (users.every(({ kubelet }) => kubelet === undefined)) continue;
    if (nodeClass === undefined) for (const { draft, kubelet } of users) noteMissingClass(draft, kubelet, String(name));
    else copies.set(nodeClass, shareOut(nodeClass, users, names, kept.has(name)));
  }
  return copies;
}

const nameOf = (draft: ManifestDraft): string | undefined => textAt(draft.object, ["metadata", "name"]);

function shareOut(
  nodeClass: ManifestDraft,
  users: readonly Made[],
  names: Set<string | undefined>,
  isKept: boolean,
): readonly ManifestDraft[] {
  const groups: Made[][] = [];
  for (const user of users) {
    const alike = groups.find(([first]) => equalJson(first?.kubelet?.settings, user.kubelet?.settings));
    if (alike) alike.push(user);
    else groups.push([user]);
  }
  const keeper = groups.find(([first]) => first?.kubelet === undefined) ?? (isKept ? undefined : groups[0]);
  const plain = nodeClass.object;
  if (keeper) giveKubelet(nodeClass, keeper[0]);
  return groups.filter((group) => group !== keeper).map((group) => copyFor(group, nodeClass, plain, names));
}

function copyFor(group: readonly Made[], nodeClass: ManifestDraft, plain: JsonObject, names: Set<string | undefined>): ManifestDraft {
  const copy = nodeClass.copy(plain);
  const base = `${nameOf(nodeClass)}-${group[0] === undefined ? "" : nameOf(group[0].draft)}`;
  let name = base;
  for (let i = 2; names.has(name); i++) name = `${base}-${i}`;
  names.add(name);
  copy.set(["metadata", "name"], name);
  giveKubelet(copy, group[0]);
  copy.note(
    "info",
    [],
    `a copy of ${nameOf(nodeClass)}: kubelet settings are the class's in v1, and NodePools that share it have different ones`,
  );
  for (const { draft } of group) draft.set(REF_NAME, name);
  return copy;
}

function giveKubelet(nodeClass: ManifestDraft, made: Made | undefined): void {
  if (made?.kubelet === undefined) return;
  nodeClass.set(KUBELET, made.kubelet.settings);
  nodeClass.origins.push({ to: KUBELET, input: made.draft.input, from: made.kubelet.from });
}

function noteMissingClass(draft: ManifestDraft, kubelet: Kubelet | undefined, name: string): void {
  if (kubelet === undefined) return;
  const text = `kubelet settings are EC2NodeClass's in v1, and EC2NodeClass ${name} is not among what is converted here: add them to its spec`;
  draft.note("act", REF_NAME.slice(0, -1), text, { kubelet: kubelet.settings });
}
