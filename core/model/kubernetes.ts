/**
 * core/model: the data of the product, as types of plain JSON and functions over single values. Nothing comes in from
 * other rooms except core/lib; every room imports from here. Decisions must not be known here.
 * This file: the parts of the Kubernetes API that the core reads, as plain API JSON. The types are our own, because
 * even a type import from a client library would bring Node's globals back into the core. Fields that the core does not
 * read are left out; objects may carry them.
 */

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface KubernetesObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
  /** RFC 3339. */
  readonly lastTransitionTime?: string;
  readonly observedGeneration?: number;
}

/** Resource name to Kubernetes quantity ("1930m", "6903Mi"), as in the API. A number is taken as plain units. */
export type ResourceList = Readonly<Record<string, string | number>>;

export interface LabelSelectorRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}
