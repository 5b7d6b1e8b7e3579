import type { Condition, KubernetesObject, ResourceList } from "./kubernetes.ts";
import type { Taint } from "./taint.ts";

interface NodeSpec {
  readonly providerID?: string;
  readonly taints?: readonly Taint[];
  readonly unschedulable?: boolean;
}

interface NodeStatus {
  readonly capacity?: ResourceList;
  readonly allocatable?: ResourceList;
  readonly conditions?: readonly Condition[];
  /** The boot id changes with each boot of the machine. */
  readonly nodeInfo?: { readonly bootID?: string };
  readonly addresses?: readonly { readonly type: string; readonly address: string }[];
}

/** v1 Node. */
export interface Node extends KubernetesObject {
  readonly spec: NodeSpec;
  readonly status?: NodeStatus;
}
