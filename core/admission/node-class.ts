import { NODE_CLASS } from "../model/labels.ts";
import type { EC2NodeClass, EC2NodeClassSpec } from "../model/node-class.ts";
import { restrictedTags } from "../model/tags.ts";
import { amiFamilyOf, FAMILIES } from "../node-class/family.ts";
import { nameProblems } from "../requirements/name.ts";
import { reviewBlockDevices } from "./block-devices.ts";
import { reviewKubelet } from "./kubelet.ts";
import { selectorWarnings } from "./selector-terms.ts";
import { userDataProblems } from "./user-data.ts";
import { type AdmissionVerdict, together } from "./verdict.ts";

/**
 * Problems and warnings of an EC2NodeClass that its schema cannot express: whatever EC2, IAM or a booting node would
 * refuse in any account.
 */
export function reviewNodeClass({ metadata, spec }: EC2NodeClass): AdmissionVerdict {
  const family = amiFamilyOf(spec);
  return together(
    {
      problems: [
        ...nameProblems(metadata.name, NODE_CLASS),
        ...identityProblems(spec),
        ...tagProblems(spec.tags),
        ...userDataProblems(spec.userData, family),
      ],
      warnings: [...selectorWarnings(spec), ...bootWarnings(spec)],
    },
    reviewKubelet(spec.kubelet, family),
    reviewBlockDevices(spec.blockDeviceMappings, family),
  );
}

/** IAM's patterns for names of roles (with their path) and of instance profiles. */
const ROLE_NAME = /^[\w+=,.@/-]+$/;
const PROFILE_NAME = /^[\w+=,.@-]{1,128}$/;

function identityProblems({ role, instanceProfile }: EC2NodeClassSpec): readonly string[] {
  return [
    ...(role === undefined || ROLE_NAME.test(role) ? [] : [`spec.role: "${role}" is no role's name; ${nameIn(role)}`]),
    ...(instanceProfile === undefined || PROFILE_NAME.test(instanceProfile)
      ? []
      : [`spec.instanceProfile: "${instanceProfile}" is no instance profile's name; ${nameIn(instanceProfile)}`]),
  ];
}

function nameIn(text: string): string {
  const last = text.slice(text.lastIndexOf("/") + 1);
  return text.startsWith("arn:") && last !== text ? `write ${last} in place of the ARN` : "use letters, digits and +=,.@_-";
}

/** EC2 takes 50 tags per resource; seven of them are ours. */
const MAX_TAGS = 43;

function tagProblems(tags: Readonly<Record<string, string>> = {}): readonly string[] {
  const entries = Object.entries(tags);
  return [
    ...restrictedTags(tags).map((key) => `spec.tags: ${key === "" ? "a tag without a key" : key} is set by the system; take it out`),
    ...(entries.length > MAX_TAGS ? [`spec.tags has ${entries.length} tags; EC2 takes 50, of which 7 are set by the system`] : []),
    ...entries.flatMap(([key, value]) => [
      ...(/^aws:/i.test(key) ? [`spec.tags: ${key} begins with aws:, which AWS keeps for itself`] : []),
      ...(key.length > 128 ? [`spec.tags: the key ${key.slice(0, 20)}… has ${key.length} characters; EC2 takes 128`] : []),
      ...(value.length > 256 ? [`spec.tags: the value of ${key} has ${value.length} characters; EC2 takes 256`] : []),
    ]),
  ];
}

/** Warnings about settings that keep an instance from booting as intended. */
function bootWarnings({ amiFamily, amiSelectorTerms, metadataOptions, instanceStorePolicy }: EC2NodeClassSpec): readonly string[] {
  const family = amiFamilyOf({ ...(amiFamily && { amiFamily }), amiSelectorTerms });
  const takesNoPolicy = family === "Custom" || FAMILIES[family].os === "windows";
  return [
    ...(metadataOptions?.httpEndpoint === "disabled" && family !== "Custom"
      ? [`spec.metadataOptions.httpEndpoint: images of ${family} read their identity from the metadata service, so nodes will not join`]
      : []),
    ...(instanceStorePolicy !== undefined && takesNoPolicy
      ? [`spec.instanceStorePolicy: images of ${family} do not take it; your user data must make the array itself`]
      : []),
  ];
}
