import { BadInput } from "#infra/end-with.ts";
import { functionSettings } from "#infra/function-settings.ts";
import { WITHOUT_EFFECT } from "#infra/setting-notes.ts";
import type { DeploymentSettings } from "#infra/settings.ts";
import { DEFAULT_GATES, SETTINGS } from "#settings/setting-table.ts";

/** What becomes of one setting of Karpenter. */
export interface CarriedSetting {
  readonly name: string;
  readonly value: string;
  /** "none": it has no equivalent, or one that does not take the value. */
  readonly fate: "carried" | "none";
  /** Why there is none. */
  readonly why?: string;
}

/**
 * Settings that name the pod itself, the cluster or its queue; they set nothing that a person has chosen.
 */
const ABOUT_ITSELF =
  /^(KUBERNETES_|AWS_|CLUSTER_(NAME|ENDPOINT|CA_BUNDLE)$|KARPENTER_SERVICE$|INTERRUPTION_QUEUE$|SYSTEM_NAMESPACE$|(METRICS|HEALTH_PROBE)_PORT$|GO|HTTPS?_PROXY|NO_PROXY)/;

/** For each setting of Karpenter, whether the functions take it. */
export function carriedOver(settings: Readonly<Record<string, string>>): readonly CarriedSetting[] {
  return Object.entries(settings)
    .filter(([name]) => !ABOUT_ITSELF.test(name))
    .map(([name, value]): CarriedSetting => {
      const because = Object.hasOwn(WITHOUT_EFFECT, name) ? WITHOUT_EFFECT[name] : undefined;
      if (because !== undefined) return { name, value, fate: "none", why: because };
      if (!Object.hasOwn(SETTINGS, name)) return { name, value, fate: "none", why: "there is no such setting here" };
      try {
        functionSettings({ [name]: value }, "Karpenter");
      } catch (error) {
        if (!(error instanceof BadInput)) throw error;
        return { name, value, fate: "none", why: error.message.replace(/^Karpenter: settings\.\w+: /, "").replace(/\.$/, "") };
      }
      return { name, value, fate: "carried" };
    });
}

/** The settings that the functions take, for a deployment. */
export const taken = (settings: Readonly<Record<string, string>>): DeploymentSettings["settings"] =>
  Object.fromEntries(carriedOver(settings).flatMap(({ name, value, fate }) => (fate === "carried" ? [[name, value]] : [])));

/** Names of the settings whose value the deployed functions do not have; equal ways to write a value count as equal. */
export function differing(wanted: Readonly<Record<string, string>>, deployed: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(wanted).filter((name) => !isSame(name, wanted[name] ?? "", deployed[name]));
}

function isSame(name: string, wanted: string, deployed: string | undefined): boolean {
  const row = SETTINGS[name as keyof typeof SETTINGS];
  const values = [wanted, deployed ?? row.fallback].map((text) => row.read(text));
  if (name !== "FEATURE_GATES") return JSON.stringify(values[0]) === JSON.stringify(values[1]);
  // A gate that the list does not name has its default.
  const [a, b] = values.map((read) => ({ ...DEFAULT_GATES, ...("value" in read ? (read.value as object) : {}) }));
  return JSON.stringify(a) === JSON.stringify(b);
}
